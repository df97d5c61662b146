"""Stores the outcome of a job. Repeats the write until the database answers, and does not count some retries."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from procrastinate.connector import BaseAsyncConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager

from spotthebot.kit.database.sessions import is_passing_trouble
from spotthebot.kit.telemetry.logs import get_logger

_PATIENCE_SECONDS = 60.0
"""After this time the worker's heartbeat has failed too: another worker repeats the job."""
_WAIT_SECONDS = 0.5
_REPEAT = """
    UPDATE procrastinate_jobs SET status = 'todo', scheduled_at = %(retry_at)s, abort_requested = false
    WHERE id = %(job_id)s AND status = 'doing'
"""

_log = get_logger(__name__)


class JobOutcomes(JobManager):
    """Procrastinate's job manager. If a job is in `uncounted`, its repetition does not count as an attempt."""

    def __init__(self, connector: BaseAsyncConnector) -> None:
        super().__init__(connector)
        self.uncounted: set[int] = set()

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:  # noqa: FBT001 - procrastinate's
        finish = super().finish_job
        await self._write(job, lambda: finish(job, status, delete_job))

    async def retry_job(
        self,
        job: Job,
        retry_at: datetime | None = None,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        if job.id in self.uncounted:
            self.uncounted.discard(job.id)
            arguments = {"job_id": job.id, "retry_at": retry_at or datetime.now(UTC)}
            await self._write(job, lambda: self.connector.execute_query_async(_REPEAT, **arguments))
            return
        retry = super().retry_job
        await self._write(job, lambda: retry(job, retry_at, priority, queue, lock))

    async def _write(self, job: Job, write: Callable[[], Awaitable[None]]) -> None:
        deadline = asyncio.get_running_loop().time() + _PATIENCE_SECONDS
        while True:
            try:
                await write()
            except ConnectorException as error:
                if not is_passing_trouble(error.__cause__):
                    reason = str(error.__cause__)[:200]
                    _log.warning("job.outcome_refused", job=job.id, task=job.task_name, reason=reason)
                    return  # it was written before its connection was lost, or another worker has the job
                if asyncio.get_running_loop().time() > deadline:
                    raise
                await asyncio.sleep(_WAIT_SECONDS)
            else:
                return
