"""Background jobs on procrastinate, in the service's own schema.

A job is deferred inside the caller's transaction, so that a rollback forgets it. Jobs may run more than once: they
take ids and are idempotent. A worker that dies leaves its jobs "doing"; the janitor puts them back in the queue.
"""

import asyncio
import contextlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import procrastinate
import psycopg
from procrastinate import App, Blueprint, JobContext, PsycopgConnector
from procrastinate.schema import SchemaManager
from sqlalchemy import Connection, text
from sqlalchemy.engine import make_url

from spotthebot.kit.database import WriteSession
from spotthebot.kit.logs import get_logger

_log = get_logger(__name__)

DEFAULT_QUEUE = "default"
QueueTrouble = procrastinate.exceptions.ConnectorException
"""The queue can't be reached."""

__all__ = ["DEFAULT_QUEUE", "Blueprint", "JobContext", "Jobs", "QueueTrouble", "create_job_tables"]


def create_job_tables(connection: Connection, schema: str) -> None:
    """Make procrastinate's tables in `schema`, in the one migration that does."""
    # The driver's own cursor: SQLAlchemy would prepare the whole script as one statement.
    with contextlib.closing(connection.connection.cursor()) as cursor:
        cursor.execute(f'SET LOCAL search_path TO "{schema}"')
        cursor.execute(SchemaManager.get_schema())
        cursor.execute("SET LOCAL search_path TO DEFAULT")


class Jobs:
    """The job queue of one service: defer from the API, run in a worker.

    A worker that was not heard of for `stalled_after_seconds` counts as dead; all workers must agree on it.
    """

    def __init__(self, database_url: str, schema: str, *, stalled_after_seconds: float = 20.0) -> None:
        url = make_url(database_url).set(drivername="postgresql")
        self._schema = schema
        self._stalled_after_seconds = stalled_after_seconds
        self._app = App(
            connector=PsycopgConnector(
                conninfo=url.render_as_string(hide_password=False),
                kwargs={"options": f"-c search_path={schema}", "application_name": f"{schema}-jobs"},
                min_size=1,
                max_size=8,
            )
        )

    async def defer(
        self,
        session: WriteSession,
        task: str,
        arguments: Mapping[str, Any],
        *,
        lock: str | None = None,
        queue: str = DEFAULT_QUEUE,
        delay: timedelta | None = None,
    ) -> None:
        """Queue a job that exists only if the session's transaction commits; after `delay` it may run."""
        await session.execute(text("SELECT set_config('search_path', :schema, true)"), {"schema": self._schema})
        raw = await (await session.connection()).get_raw_connection()
        connection = raw.driver_connection
        if not isinstance(connection, psycopg.AsyncConnection):
            message = f"procrastinate needs psycopg's connection, not {type(connection)}"
            raise TypeError(message)
        schedule_in = {"seconds": int(delay.total_seconds())} if delay else None
        deferrer = self._app.configure_task(
            task, lock=lock, queue=queue, schedule_in=schedule_in, connection=connection
        )
        await deferrer.defer_async(**arguments)

    async def work(self, tasks: Blueprint, *, concurrency: int | Mapping[str, int], context: Mapping[str, Any]) -> None:
        """Run jobs until cancelled; `context` reaches tasks as `JobContext.additional_context`.

        `concurrency` is how many jobs run at once, or, by queue, how many of each: no queue waits for another.
        When cancelled, running jobs get ten seconds to end and are then aborted; a janitor takes them up again.
        """
        self._app.add_tasks_from(tasks, namespace=self._schema)
        queues = concurrency if isinstance(concurrency, Mapping) else {DEFAULT_QUEUE: concurrency}
        async with self._app.open_async(), asyncio.TaskGroup() as group:
            group.create_task(self._retry_stalled_jobs())
            for queue, at_once in queues.items():
                group.create_task(self._run(queue, at_once, context))
            _log.info("worker.ready", schema=self._schema)

    async def _run(self, queue: str, concurrency: int, context: Mapping[str, Any]) -> None:
        await self._app.run_worker_async(
            queues=[queue],
            concurrency=concurrency,
            install_signal_handlers=False,
            fetch_job_polling_interval=1.0,
            shutdown_graceful_timeout=10.0,
            update_heartbeat_interval=self._stalled_after_seconds / 4,
            stalled_worker_timeout=self._stalled_after_seconds,
            additional_context=dict(context),
            delete_jobs="successful",
        )

    async def _retry_stalled_jobs(self) -> None:
        manager = self._app.job_manager
        while True:
            with contextlib.suppress(QueueTrouble):  # another time
                for job in await manager.get_stalled_jobs(seconds_since_heartbeat=self._stalled_after_seconds):
                    await manager.retry_job(job, retry_at=datetime.now(UTC))
                    _log.warning("job.retried", job=job.id, task=job.task_name, reason="its worker died")
            await asyncio.sleep(self._stalled_after_seconds / 4)
