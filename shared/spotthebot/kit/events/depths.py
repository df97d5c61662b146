"""Counts the events that wait for distribution, and the deliveries that wait for their next attempt."""

from sqlalchemy import text

from spotthebot.kit.database.sessions import ReadSession
from spotthebot.kit.telemetry.queues import COUNTED, QueueDepth

OUTBOX = "outbox"
DELIVERIES = "deliveries"


async def read_event_queues(session: ReadSession, schema: str) -> tuple[QueueDepth, ...]:
    """Read the two queues of one service: its outbox and its deliveries.

    Each queue has an index of its waiting entries.
    """
    outbox = await session.execute(
        text(f"""
            SELECT count(*) AS waiting, GREATEST(0, EXTRACT(EPOCH FROM now() - min(created_at))) AS oldest_seconds
            FROM (SELECT created_at FROM {schema}.events WHERE NOT distributed ORDER BY id LIMIT :counted) AS new
        """),  # noqa: S608 - a schema of ours
        {"counted": COUNTED},
    )
    deliveries = await session.execute(
        text(f"""
            SELECT count(*) FILTER (WHERE leased_until IS NULL OR leased_until <= now()) AS waiting,
                count(*) FILTER (WHERE leased_until > now()) AS running,
                GREATEST(0, EXTRACT(EPOCH FROM now() - min(next_attempt_at) FILTER (
                    WHERE leased_until IS NULL OR leased_until <= now()
                ))) AS oldest_seconds
            FROM (
                SELECT leased_until, next_attempt_at FROM {schema}.deliveries
                WHERE state = 'pending' AND next_attempt_at <= now() LIMIT :counted
            ) AS due
        """),  # noqa: S608 - a schema of ours
        {"counted": COUNTED},
    )
    new, due = outbox.one(), deliveries.one()
    return (
        QueueDepth(OUTBOX, new.waiting, float(new.oldest_seconds or 0.0)),
        QueueDepth(DELIVERIES, due.waiting, float(due.oldest_seconds or 0.0), due.running),
    )
