"""Which jobs are repeated, when, and whether that counts, without a queue."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from procrastinate import JobContext
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager
from procrastinate.testing import InMemoryConnector
from sqlalchemy.exc import TimeoutError as PoolTimeout

from spotthebot.kit.database.sessions import is_passing_trouble
from spotthebot.kit.errors import Conflict
from spotthebot.kit.jobs import outcomes
from spotthebot.kit.jobs.outcomes import JobOutcomes
from spotthebot.kit.jobs.tasks import (
    UNEXPECTED,
    WORKER_DIED,
    Arguments,
    Retries,
    Task,
    WorkerContext,
    attempt,
    is_passing,
)

pytestmark = pytest.mark.usefixtures("no_services")


async def _do_nothing(*_given: Any, **_more: Any) -> None:
    """Stand in for the work of a job."""


def _job(attempts: int = 0, job_id: int | None = 7) -> Job:
    return Job(id=job_id, queue="q", lock=None, queueing_lock=None, task_name="t", attempts=attempts)


def _lost(cause: Exception | None) -> ConnectorException:
    error = ConnectorException()
    error.__cause__ = cause
    return error


class TestWaits:
    def test_double_from_two_seconds_to_seventeen_minutes(self):
        task = Task("t", _do_nothing)
        assert [task.wait_before_retry(retries).total_seconds() for retries in (0, 1, 2, 9, 10)] == [
            2,
            4,
            8,
            1024,
            1024,
        ]

    def test_come_five_times_for_an_error_that_is_retried(self):
        task = Task("t", _do_nothing, retried=(LookupError,))
        given = [(KeyError(), 0), (KeyError(), 4), (KeyError(), 5), (ValueError(), 0)]
        assert [task.is_repeated(error, retries) for error, retries in given] == [True, True, False, False]


class TestRetries:
    @pytest.mark.parametrize(
        ("error", "attempts", "seconds", "is_counted"),
        [
            (asyncio.CancelledError(), 9, 0, False),
            (psycopg.OperationalError("away"), 9, 2, False),
            (LookupError(), 1, 4, True),
            (LookupError(), 5, None, True),
            (ValueError(), 0, None, True),
        ],
    )
    def test_follow_at_once_after_a_stop_soon_after_trouble_and_later_after_errors(
        self, error: BaseException, attempts: int, seconds: int | None, is_counted: bool
    ):
        uncounted: set[int] = set()
        retries = Retries(Task("t", _do_nothing, retried=(LookupError,)), uncounted)
        before = datetime.now(UTC)
        decision = retries.get_retry_decision(exception=error, job=_job(attempts))
        assert uncounted == (set() if is_counted else {7})
        if seconds is None:
            assert decision is None
            return
        assert decision is not None
        assert decision.retry_at is not None
        assert before <= decision.retry_at - timedelta(seconds=seconds) <= datetime.now(UTC)

    def test_follow_for_a_job_without_an_id_too(self):
        uncounted: set[int] = set()
        retries = Retries(Task("t", _do_nothing), uncounted)
        assert retries.get_retry_decision(exception=asyncio.CancelledError(), job=_job(job_id=None)) is not None
        assert uncounted == set()


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (_lost(None), False),
        (_lost(psycopg.OperationalError("away")), True),
        (_lost(psycopg.errors.UniqueViolation()), False),
        (PoolTimeout(), True),
        (ValueError(), False),
    ],
)
def test_trouble_of_the_queue_passes_where_its_cause_does(error: Exception, passes: bool):
    assert is_passing(error) is passes
    assert is_passing_trouble(error) is (passes and not isinstance(error, ConnectorException))


class _Clock:
    """The running loop, whose time goes on by what is slept, for outcomes alone: services share the test's loop."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.slept = 1000.0, list[float]()
        mine = {"get_running_loop": lambda: self, "sleep": self._sleep}
        monkeypatch.setattr(outcomes, "asyncio", SimpleNamespace(**{**vars(asyncio), **mine}))

    def time(self) -> float:
        return self.now

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def _failing(times: int, cause: Exception | None) -> Callable[..., Awaitable[None]]:
    left = [times]

    async def finish(*_given: Any, **_more: Any) -> None:
        if left[0]:
            left[0] -= 1
            raise _lost(cause)

    return finish


class TestOutcomes:
    @pytest.mark.parametrize(("failures", "is_written"), [(121, True), (122, False)])
    async def test_are_tried_twice_a_second_for_a_minute(
        self, monkeypatch: pytest.MonkeyPatch, failures: int, is_written: bool
    ):
        monkeypatch.setattr(JobManager, "finish_job", _failing(failures, psycopg.OperationalError("away")))
        clock, manager = _Clock(monkeypatch), JobOutcomes(InMemoryConnector())
        if is_written:
            await manager.finish_job(_job(), Status.SUCCEEDED, delete_job=True)
        else:
            with pytest.raises(ConnectorException):
                await manager.finish_job(_job(), Status.SUCCEEDED, delete_job=True)
        assert clock.slept == [0.5] * 121

    @pytest.mark.parametrize("cause", [None, psycopg.errors.RaiseException("no such job")])
    async def test_are_not_written_again_where_they_are_refused(
        self, monkeypatch: pytest.MonkeyPatch, cause: Exception | None
    ):
        monkeypatch.setattr(JobManager, "finish_job", _failing(1, cause))
        clock = _Clock(monkeypatch)
        await JobOutcomes(InMemoryConnector()).finish_job(_job(), Status.SUCCEEDED, delete_job=True)
        assert clock.slept == []

    async def test_repeat_a_job_once_without_counting(self, monkeypatch: pytest.MonkeyPatch):
        moment, ran = datetime(2026, 1, 1, tzinfo=UTC), list[tuple[Any, ...]]()

        async def execute(_query: str, **arguments: Any) -> None:
            ran.append((arguments["job_id"], arguments["retry_at"]))

        async def retry(_manager: JobManager, job: Job, *given: Any) -> None:
            ran.append((job.id, "counted", *given))

        connector = InMemoryConnector()
        monkeypatch.setattr(connector, "execute_query_async", execute)
        monkeypatch.setattr(JobManager, "retry_job", retry)
        manager = JobOutcomes(connector)
        manager.uncounted.add(7)
        await manager.retry_job(_job(), moment)
        await manager.retry_job(_job(), moment, 1, "q", "l")
        assert ran == [(7, moment), (7, "counted", moment, 1, "q", "l")]
        manager.uncounted.add(7)
        before = datetime.now(UTC)
        await manager.retry_job(_job())
        assert before <= ran[-1][1] <= datetime.now(UTC)


class TestAttempts:
    @pytest.mark.parametrize(
        ("error", "attempts", "reasons"),
        [
            (None, 5, []),
            (None, 6, [WORKER_DIED]),
            (asyncio.CancelledError(), 5, []),
            (LookupError("a secret"), 4, []),
            (LookupError("a secret"), 5, [UNEXPECTED]),
            (Conflict(), 0, ["The request does not fit the present state."]),
        ],
    )
    async def test_end_the_row_with_the_reason_where_no_other_follows(
        self, error: BaseException | None, attempts: int, reasons: list[str]
    ):
        ran, failed = list[Any](), list[str]()

        async def work(_context: JobContext, **arguments: Any) -> None:
            ran.append(arguments)
            if error is not None:
                raise error

        async def fail(worker: WorkerContext, arguments: Arguments, reason: str) -> None:
            assert (worker, arguments) == ({"lent": 1}, {"number": 1})
            failed.append(reason)

        context: Any = SimpleNamespace(job=_job(attempts), additional_context={"lent": 1})
        for end in (fail, None):
            task = Task("t", work, fail=end, retried=(LookupError,))
            with pytest.raises(type(error)) if error is not None else nullcontext():
                await attempt(task, context, {"number": 1})
        assert failed == reasons
        assert ran == [] if WORKER_DIED in reasons else [{"number": 1}] * 2
