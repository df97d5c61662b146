"""The job queue of one service. Jobs are queued in a transaction, run in workers, and repeated if they are lost.

If a row waits for a job that is in no queue, another job is queued for the row. If three jobs ended without ending
their row, no further job is queued: an error in our code must not fill the queue.
"""

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
from spotthebot.kit.jobs.outcomes import JobOutcomes
from spotthebot.kit.jobs.tasks import DEFAULT_QUEUE, Arguments, Defer, Retries, Task, WorkerContext, attempt
from spotthebot.kit.telemetry.logs import get_logger
from spotthebot.kit.telemetry.tracing import linked_trace, stored_trace
from spotthebot.kit.waits.cancellation import pause, raise_if_cancelled

_log = get_logger(__name__)
QueueTrouble = procrastinate.exceptions.ConnectorException
"""The queue can't be reached."""
_GRACE_SECONDS = 10.0
_END_SECONDS = 2.0
"""Time to store the outcomes of aborted jobs after the grace period. Supervisors wait 15 s for both together."""
_STOP_AGAIN_SECONDS = 0.2
_RESTART_SECONDS = 1.0
_BEFORE_JOBS = text("SELECT set_config('search_path', :schema, true), set_config('spotthebot.trace', :trace, true)")
"""Sets the schema, which procrastinate's statements do not name, and the trace, the default of a column of the job."""
_TRACE = "SELECT trace FROM procrastinate_jobs WHERE id = %(job_id)s"
_MAX_LOST = 3
"""After this many jobs that ended without finishing their row, no further job is queued."""


class Jobs:
    """The job queue of one service. The API queues jobs, and workers run them.

    A worker that gave no heartbeat for `stalled_after_seconds` counts as dead. All workers must have the same value.
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
        """Queue a job. It exists only if the session's transaction commits, and runs after `delay` at the earliest.

        Jobs with the same `lock` run one after the other. Jobs with a higher `priority` run first.
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
        """Run jobs until cancelled. Tasks get `context` as `JobContext.additional_context`.

        `concurrency` is how many jobs run at once, in all queues together or in each queue. With a number for each
        queue, no queue waits for another. After a cancellation, running jobs get ten seconds to end; after that they
        are aborted and queued again. If `context` has a `database`, a row that waits for a lost job gets another job. A
        function `stopping` is added to the context. It returns whether the worker was cancelled, so that a long job can
        end by itself.
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
            await self._connector.close_async()  # also if it was cancelled during its opening

    async def _run(self, queue: str, concurrency: int, context: WorkerContext) -> None:
        """Run the jobs of a queue until cancelled. A failure of the database does not end this."""
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
        """Repeat the jobs of dead workers, and queue jobs for rows whose jobs are lost."""
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
    """Run a worker. When cancelled, stop the worker and let its jobs end.

    A worker can miss a stop that arrives while it starts. So the stop is repeated, and after a deadline the worker is
    cancelled.
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


async def requeue_lost(database: Database, defer: Defer, schema: str, tasks: Sequence[Task]) -> None:
    """Queue a job for each unfinished row that has no job. Only one worker does this at a time."""
    listed = [(task, task.list_unfinished) for task in tasks if task.list_unfinished is not None]
    if not listed:
        return
    async with database.write() as session:
        # One snapshot of rows and jobs: between two, a job could end and its row would seem to have none.
        await session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        if not await _lock(session, schema):
            return
        for task, list_unfinished in listed:
            if unfinished := await list_unfinished(session):
                await _requeue(session, defer, schema, task, unfinished)


async def _requeue(
    session: WriteSession, defer: Defer, schema: str, task: Task, unfinished: Sequence[Arguments]
) -> None:
    name = f"{schema}:{task.name}"
    known = await session.execute(
        text(f"""
            SELECT args, bool_or(status IN ('todo', 'doing')) AS waits,
                count(*) FILTER (WHERE status NOT IN ('todo', 'doing')) AS ended
            FROM {schema}.procrastinate_jobs WHERE task_name = :task GROUP BY args
        """),  # noqa: S608 - a schema of ours
        {"task": name},
    )
    found: list[tuple[dict[str, Any], bool, int]] = [(row.args, row.waits, row.ended) for row in known]
    for arguments in unfinished:
        of_row = [(waits, ended) for args, waits, ended in found if args == dict(arguments)]
        if any(waits or ended >= _MAX_LOST for waits, ended in of_row):
            continue
        lock = None if task.lock is None else task.lock(arguments)
        await defer(session, name, arguments, lock=lock, queue=task.queue)
        _log.warning("job.queued_again", task=name, arguments=dict(arguments), reason="its job was lost")


async def _lock(session: WriteSession, schema: str) -> bool:
    locking = text("SELECT pg_try_advisory_xact_lock(hashtextextended(:name, 0))")
    return bool(await session.scalar(locking, {"name": f"{schema}.lost_jobs"}))
