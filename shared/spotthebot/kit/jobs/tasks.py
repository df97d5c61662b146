"""Tasks: the kinds of jobs of a service, what repeats a job, and what becomes of its row when it can't be done."""

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
"""The arguments of a job, as JSON: ids that say which row it is about."""
WorkerContext = Mapping[str, Any]
"""What a worker lends to its jobs: its database and clients."""


class Defer(Protocol):
    """Queues a job with the transaction of a session; jobs of one `lock` run one after the other."""

    async def __call__(
        self, session: WriteSession, task: str, arguments: Arguments, *, lock: str | None = None, queue: str = ...
    ) -> None: ...


@dataclass(frozen=True)
class Task:
    """A kind of job.

    `run` gets procrastinate's context and the arguments. A stop of the worker and passing trouble of the database
    repeat a job as often as they happen. An error among `retried` repeats it `max_retries` times, after waits that
    double (`backoff`); so does the death of its worker. After that, and at once for any other error, `fail` ends the
    row that the job is about, with a reason for its owner. `list_unfinished` returns the arguments of jobs that the
    rows call for: where such a job is gone, another one is queued, under the `lock`. A job `has_trace`, unless it works
    for days and for many.
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
        """Return whether an error that is counted repeats a job which was repeated so often before."""
        return isinstance(error, self.retried) and retries < self.max_retries

    def wait_before_retry(self, retries: int) -> timedelta:
        """Return the wait before a job that was repeated so often before is repeated again."""
        return timedelta(seconds=self.backoff.seconds(retries + 1))


class Retries(BaseRetryStrategy):
    """Decides whether a job of a task is repeated; ids of jobs whose repetition does not count go to `uncounted`."""

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
    """Run a job once; where no attempt follows, end its row with the reason before the error is raised."""
    worker: WorkerContext = context.additional_context
    if context.job.attempts > task.max_retries:  # errors end it before that: workers died
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
    """Return whether an error says nothing about a job: its worker stops, or the database has trouble."""
    if isinstance(error, ConnectorException):
        return is_passing_trouble(error.__cause__)
    return isinstance(error, asyncio.CancelledError) or is_passing_trouble(error)


async def _fail(task: Task, worker: WorkerContext, arguments: Arguments, reason: str) -> None:
    if task.fail is not None:
        await task.fail(worker, arguments, reason)
