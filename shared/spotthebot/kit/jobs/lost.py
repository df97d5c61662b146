"""Lost jobs: if a row waits for a job that is in no queue, another job is queued for the row.

If three jobs ended without ending their row, no further job is queued: an error in our code must not fill the queue.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import text

from spotthebot.kit.database.sessions import Database, WriteSession
from spotthebot.kit.jobs.tasks import Arguments, Defer, Task
from spotthebot.kit.telemetry.logs import get_logger

_MAX_LOST = 3
"""After this many jobs that ended without finishing their row, no further job is queued."""

_log = get_logger(__name__)


async def requeue_lost(database: Database, defer: Defer, schema: str, tasks: Sequence[Task]) -> None:
    """Queue a job for each unfinished row that has no job. Only one worker does this at a time."""
    for task in tasks:
        if task.list_unfinished is None:
            continue
        async with database.write() as session:
            # One snapshot of rows and jobs: between two, a job could end and its row would seem to have none.
            await session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
            if await _lock(session, schema) and (unfinished := await task.list_unfinished(session)):
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
