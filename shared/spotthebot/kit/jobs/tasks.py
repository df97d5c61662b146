"""Tasks: the kinds of jobs of a service. A task defines when its jobs are repeated, and how a failed job's row ends."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from procrastinate import BaseRetryStrategy, JobContext, RetryDecision
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job

from spotthebot.kit.database.sessions import ReadSession, WriteSession, is_passing_trouble
from spotthebot.kit.errors import Error
from spotthebot.kit.telemetry.logs import get_logger
from spotthebot.kit.waits.backoff import Backoff

DEFAULT_QUEUE = "default"
UNEXPECTED = "Something unexpected went wrong; it was logged with the id of this job."
WORKER_DIED = "Its worker died each time that it ran."
_BACKOFF = Backoff(first_seconds=2.0, max_seconds=1024.0)
_TROUBLE_WAIT = timedelta(seconds=2)

_log = get_logger(__name__)

Arguments = Mapping[str, Any]
"""The arguments of a job, as JSON: ids of the row that it works on."""
WorkerContext = Mapping[str, Any]
"""Objects that a worker passes to its jobs: its database and clients."""


class Defer(Protocol):
    """Queues a job in the transaction of a session. Jobs with the same `lock` run one after the other."""

    async def __call__(
        self, session: WriteSession, task: str, arguments: Arguments, *, lock: str | None = None, queue: str = ...
    ) -> None: ...


@dataclass(frozen=True)
class Task:
    """A kind of job.

    `run` gets procrastinate's context and the arguments. If the worker stops or the database fails for a while, a job
    is repeated without limit. After an error of a type in `retried`, or after the death of its worker, a job is
    repeated up to `max_retries` times. The wait doubles each time (`backoff`).

    If a job fails after the last retry, or with any other error, `fail` ends the row that the job is about, with a
    reason for the row's owner. `list_unfinished` returns the arguments of the jobs that rows wait for. If such a job is
    lost, another job is queued, with the `lock`. `has_trace` is False for a job that works for days and for many rows.
    """

    name: str
    run: Callable[..., Awaitable[None]]
    fail: Callable[[WorkerContext, Arguments, str], Awaitable[None]] | None = None
    list_unfinished: Callable[[ReadSession], Awaitable[Sequence[Arguments]]] | None = None
    lock: Callable[[Arguments], str] | None = None
    queue: str = DEFAULT_QUEUE
    retried: tuple[type[Exception], ...] = ()
    max_retries: int = 5
    backoff: Backoff = _BACKOFF
    has_trace: bool = True

    def is_repeated(self, error: BaseException, retries: int) -> bool:
        """Return whether a job is repeated after a counted error. It was repeated `retries` times before."""
        return isinstance(error, self.retried) and retries < self.max_retries

    def wait_before_retry(self, retries: int) -> timedelta:
        """Return how long a job waits until it is repeated again, after `retries` earlier repetitions."""
        return timedelta(seconds=self.backoff.seconds(retries + 1))


class Retries(BaseRetryStrategy):
    """Decides whether a job of a task is repeated. If the repetition does not count, adds the job to `uncounted`."""

    def __init__(self, task: Task, uncounted: set[int]) -> None:
        self._task = task
        self._uncounted = uncounted

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        now = datetime.now(UTC)
        if is_passing(exception):
            if job.id is not None:
                self._uncounted.add(job.id)
            is_stop = isinstance(exception, asyncio.CancelledError)
            return RetryDecision(retry_at=now if is_stop else now + _TROUBLE_WAIT)
        if self._task.is_repeated(exception, job.attempts):
            return RetryDecision(retry_at=now + self._task.wait_before_retry(job.attempts))
        return None


async def attempt(task: Task, context: JobContext, arguments: Arguments) -> None:
    """Run a job once. If it fails for good, end its row with the reason, then raise the error."""
    worker: WorkerContext = context.additional_context
    if context.job.attempts > task.max_retries:  # its workers died: errors end a job before that
        await _fail(task, worker, arguments, WORKER_DIED)
        return
    try:
        await task.run(context, **arguments)
    except BaseException as error:
        if is_passing(error) or task.is_repeated(error, context.job.attempts):
            raise
        _log.exception("job.failed", task=task.name, job=context.job.id, arguments=dict(arguments))
        await _fail(task, worker, arguments, error.detail if isinstance(error, Error) else UNEXPECTED)
        raise


def is_passing(error: BaseException) -> bool:
    """Return whether an error is not the fault of the job: its worker stops, or the database fails for a while."""
    if isinstance(error, ConnectorException):
        return is_passing_trouble(error.__cause__)
    return isinstance(error, asyncio.CancelledError) or is_passing_trouble(error)


async def _fail(task: Task, worker: WorkerContext, arguments: Arguments, reason: str) -> None:
    if task.fail is not None:
        await task.fail(worker, arguments, reason)
