"""Counts the jobs that wait in each queue, and the workers."""

from collections.abc import Sequence

from sqlalchemy import text

from spotthebot.kit.database.sessions import ReadSession
from spotthebot.kit.telemetry.queues import COUNTED, JobQueues, QueueDepth

_WORKER_LIVES_SECONDS = 30


async def read_job_queues(session: ReadSession, schema: str, queues: Sequence[str]) -> JobQueues:
    """Read the named queues, even if they hold no jobs, and all other queues that hold jobs."""
    counted = await session.execute(
        text(f"""
            WITH jobs AS (
                SELECT id, queue_name, status, scheduled_at,
                    status = 'todo' AND (scheduled_at IS NULL OR scheduled_at <= now()) AS is_due
                FROM {schema}.procrastinate_jobs LIMIT :counted
            ), queues AS (
                SELECT queue_name, count(*) FILTER (WHERE is_due) AS waiting,
                    count(*) FILTER (WHERE status = 'doing') AS running,
                    count(*) FILTER (WHERE status = 'failed') AS failed,
                    min(id) FILTER (WHERE is_due AND scheduled_at IS NULL) AS first_id,
                    min(scheduled_at) FILTER (WHERE is_due) AS first_scheduled_at
                FROM jobs GROUP BY queue_name
            )
            SELECT queue_name AS queue, waiting, running, failed, GREATEST(0, EXTRACT(EPOCH FROM now() - LEAST(
                first_scheduled_at,
                (SELECT min(at) FROM {schema}.procrastinate_events WHERE job_id = first_id AND type = 'deferred')
            ))) AS oldest_seconds
            FROM queues
        """),  # noqa: S608 - a schema of ours
        {"counted": COUNTED},
    )
    found = {row.queue: row for row in counted}
    workers = await session.scalar(
        text(f"""
            SELECT count(*) FROM {schema}.procrastinate_workers
            WHERE last_heartbeat > now() - make_interval(secs => :seconds)
        """),  # noqa: S608 - a schema of ours
        {"seconds": _WORKER_LIVES_SECONDS},
    )
    empty = tuple(QueueDepth(queue, 0, 0.0, 0) for queue in queues if queue not in found)
    depths = (
        QueueDepth(row.queue, row.waiting, float(row.oldest_seconds or 0.0), row.running) for row in found.values()
    )
    failed = dict.fromkeys(queues, 0) | {queue: row.failed for queue, row in found.items()}
    return JobQueues((*depths, *empty), failed, workers or 0)
