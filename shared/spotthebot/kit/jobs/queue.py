"""The job queue of one service: jobs are deferred in a transaction, run in workers, and repeated when they got lost."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any

import procrastinate
import psycopg
import structlog
from procrastinate import App, Blueprint, JobContext, PsycopgConnector
from procrastinate.worker import Worker
from sqlalchemy import text
from sqlalchemy.engine import make_url

from spotthebot.kit.database.sessions import DATABASE_TROUBLE, Database, WriteSession
from spotthebot.kit.jobs.lost import requeue_lost
from spotthebot.kit.jobs.outcomes import JobOutcomes
from spotthebot.kit.jobs.tasks import DEFAULT_QUEUE, Retries, Task, WorkerContext, attempt
from spotthebot.kit.telemetry.logs import get_logger
from spotthebot.kit.telemetry.tracing import linked_trace, stored_trace
from spotthebot.kit.waits.cancellation import pause, raise_if_cancelled

_log = get_logger(__name__)

QueueTrouble = procrastinate.exceptions.ConnectorException
"""The queue can't be reached."""
_GRACE_SECONDS = 10.0
_END_SECONDS = 2.0
"""Time to write what became of aborted jobs, after the grace; supervisors wait 15 s for all of it."""
_STOP_AGAIN_SECONDS = 0.2
_RESTART_SECONDS = 1.0
_BEFORE_JOBS = text("SELECT set_config('search_path', :schema, true), set_config('spotthebot.trace', :trace, true)")
"""Procrastinate's statements name no schema; a job's row takes the trace from the setting, by the column's default."""
_TRACE = "SELECT trace FROM procrastinate_jobs WHERE id = %(job_id)s"


class Jobs:
    """The job queue of one service: defer from the API, run in a worker.

    A worker that was not heard of for `stalled_after_seconds` counts as dead; all workers must agree on it.
    """

    def __init__(self, database_url: str, schema: str, *, stalled_after_seconds: float = 20.0) -> None:
        url = make_url(database_url).set(drivername="postgresql")
        self._schema = schema
        self._stalled_after_seconds = stalled_after_seconds
        self._connector = PsycopgConnector(
            conninfo=url.render_as_string(hide_password=False),
            kwargs={"options": f"-c search_path={schema}", "application_name": f"{schema}-jobs"},
            configure=_without_transactions,
            min_size=1,
            max_size=8,
        )
        self._app = App(connector=self._connector)

    async def defer(
        self,
        session: WriteSession,
        task: str,
        arguments: Mapping[str, Any],
        *,
        lock: str | None = None,
        queue: str = DEFAULT_QUEUE,
        priority: int = 0,
        delay: timedelta | None = None,
    ) -> None:
        """Queue a job that exists only if the session's transaction commits; after `delay` it may run.

        Jobs of one `lock` run one after the other; of those that may run the one of the highest `priority` goes first.
        """
        await session.execute(_BEFORE_JOBS, {"schema": self._schema, "trace": stored_trace() or ""})
        raw = await (await session.connection()).get_raw_connection()
        connection = raw.driver_connection
        if not isinstance(connection, psycopg.AsyncConnection):
            message = f"procrastinate needs psycopg's connection, not {type(connection)}"
            raise TypeError(message)
        schedule_in = {"seconds": int(delay.total_seconds())} if delay else None
        deferrer = self._app.configure_task(
            task, lock=lock, queue=queue, priority=priority, schedule_in=schedule_in, connection=connection
        )
        await deferrer.defer_async(**arguments)

    async def work(
        self, tasks: Sequence[Task], *, concurrency: int | Mapping[str, int], context: WorkerContext
    ) -> None:
        """Run jobs until cancelled; `context` reaches tasks as `JobContext.additional_context`.

        `concurrency` is how many jobs run at once, or, by queue, how many of each: no queue waits for another.
        When cancelled, running jobs get ten seconds to end and are then aborted; they are queued again. A `context`
        with a `database` lets rows that wait for a lost job have another. To it is added `stopping`, a function that
        returns whether the worker was cancelled: a long job may end by itself then.
        """
        outcomes = JobOutcomes(self._connector)
        self._app.job_manager = outcomes
        self._app.add_tasks_from(_blueprint(tasks, outcomes), namespace=self._schema)
        queues = concurrency if isinstance(concurrency, Mapping) else {DEFAULT_QUEUE: concurrency}
        try:
            async with self._app.open_async():
                raise_if_cancelled()
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._repair(tasks, context.get("database")))
                    for queue, at_once in queues.items():
                        group.create_task(self._run(queue, at_once, context))
                    _log.info("worker.ready", schema=self._schema)
        finally:
            await self._connector.close_async()  # also where it was cancelled while it was opened

    async def _run(self, queue: str, concurrency: int, context: WorkerContext) -> None:
        """Run jobs of a queue until cancelled, whatever trouble the database has meanwhile."""
        while True:
            stopping = asyncio.Event()
            worker = Worker(
                self._app,
                queues=[queue],
                concurrency=concurrency,
                install_signal_handlers=False,
                fetch_job_polling_interval=1.0,
                shutdown_graceful_timeout=_GRACE_SECONDS,
                update_heartbeat_interval=self._stalled_after_seconds / 4,
                stalled_worker_timeout=self._stalled_after_seconds,
                additional_context={**context, "stopping": stopping.is_set},
                delete_jobs="successful",
            )
            try:
                await _run_until_cancelled(worker, stopping)
            except (QueueTrouble, *DATABASE_TROUBLE) as error:
                _log.warning("worker.lost_queue", queue=queue, reason=str(error.__cause__ or error)[:200])
            else:
                _log.warning("worker.lost_queue", queue=queue, reason="its heartbeat or its listener failed")
            await pause(_RESTART_SECONDS)

    async def _repair(self, tasks: Sequence[Task], database: Database | None) -> None:
        """Repeat jobs of dead workers, and queue jobs for rows that wait for one in vain."""
        while True:
            try:
                await self._retry_stalled_jobs()
                if database is not None:
                    await requeue_lost(database, self.defer, self._schema, tasks)
            except (QueueTrouble, *DATABASE_TROUBLE) as error:
                _log.warning("worker.repairs_nothing", reason=str(error.__cause__ or error)[:200])  # another time
            await pause(self._stalled_after_seconds / 4)

    async def _retry_stalled_jobs(self) -> None:
        manager = self._app.job_manager
        for job in await manager.get_stalled_jobs(seconds_since_heartbeat=self._stalled_after_seconds):
            await manager.retry_job(job, retry_at=datetime.now(UTC))
            _log.warning("job.retried", job=job.id, task=job.task_name, reason="its worker died")


async def _without_transactions(connection: psycopg.AsyncConnection[Any]) -> None:
    """Leave out BEGIN and COMMIT: each of procrastinate's statements is a transaction of its own."""
    await connection.set_autocommit(True)


def _blueprint(tasks: Sequence[Task], outcomes: JobOutcomes) -> Blueprint:
    blueprint = Blueprint()
    for task in tasks:
        blueprint.task(name=task.name, queue=task.queue, pass_context=True, retry=Retries(task, outcomes.uncounted))(
            _attempting(task)
        )
    return blueprint


def _attempting(task: Task) -> Any:  # noqa: ANN401 - procrastinate's type of a task's function is its own
    async def attempting(context: JobContext, **arguments: Any) -> None:  # noqa: ANN401 - JSON
        attributes: dict[str, str | int] = {"queue": task.queue, "job": context.job.id or 0}
        trace = (
            linked_trace(f"job {task.name}", attributes, await _read_trace(context))
            if task.has_trace
            else nullcontext()
        )
        with trace, structlog.contextvars.bound_contextvars(job=context.job.id):
            await attempt(task, context, arguments)

    return attempting


async def _read_trace(context: JobContext) -> str | None:
    rows = await context.app.job_manager.connector.execute_query_all_async(_TRACE, job_id=context.job.id)
    return rows[0]["trace"] if rows else None


async def _run_until_cancelled(worker: Worker, stopping: asyncio.Event) -> None:
    """Run a worker; when cancelled, stop it and let its jobs end.

    A worker loses a stop that comes as it begins. So it is told again and again, and cancelled when it had its time.
    """
    running = asyncio.create_task(worker.run())  # type: ignore[no-untyped-call] # procrastinate's
    try:
        await asyncio.shield(running)
    except asyncio.CancelledError:
        stopping.set()
        deadline = asyncio.get_running_loop().time() + _GRACE_SECONDS + _END_SECONDS
        while not running.done():
            worker.stop()  # type: ignore[no-untyped-call] # procrastinate's
            if asyncio.get_running_loop().time() > deadline:
                running.cancel()
            await asyncio.wait({running}, timeout=_STOP_AGAIN_SECONDS)
        if not running.cancelled() and (error := running.exception()):
            _log.warning("worker.ended_badly", reason=str(error)[:200])
        raise
