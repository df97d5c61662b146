"""The only SQL over concurrency slots, which keep each bot's concurrency over all processes."""

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy import BigInteger, bindparam, delete, text

from spotthebot.conversations.turn_loop.domain import AcquiredSlots, SlotRequest
from spotthebot.conversations.turn_loop.tables import ConcurrencySlotRow
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.ids import new_ids


async def acquire(
    session: WriteSession, job_id: int, requests: Mapping[UUID, SlotRequest]
) -> dict[UUID, AcquiredSlots]:
    """Acquire at each bot as many free slots as requested, or fewer; bots without a free slot are omitted."""
    bots = sorted(requests)
    await session.execute(
        text("""
            SELECT pg_advisory_xact_lock(hashtextextended('concurrency-slots/' || bot, 0))
            FROM (SELECT bot FROM unnest(CAST(:bots AS text[])) AS bot ORDER BY bot) AS ordered
        """),
        {"bots": [str(each) for each in bots]},
    )
    rows = await session.execute(
        text("""
            WITH expired AS (
                DELETE FROM conversations.concurrency_slots
                WHERE bot_id = ANY(:bots) AND expires_at <= clock_timestamp()
            )
            INSERT INTO conversations.concurrency_slots (id, bot_id, job_id, slots, expires_at)
            SELECT r.id, r.bot, :job_id, LEAST(r.slots, r.max_slots - COALESCE(used.slots, 0)),
                clock_timestamp() + make_interval(secs => r.seconds)
            FROM unnest(
                CAST(:ids AS uuid[]), CAST(:bots AS uuid[]), CAST(:slots AS int[]), CAST(:limits AS int[]),
                CAST(:seconds AS float8[])
            ) AS r (id, bot, slots, max_slots, seconds)
            LEFT JOIN LATERAL (
                SELECT sum(slots) AS slots FROM conversations.concurrency_slots
                WHERE bot_id = r.bot AND expires_at > clock_timestamp()
            ) AS used ON true
            WHERE LEAST(r.slots, r.max_slots - COALESCE(used.slots, 0)) > 0
            RETURNING id, bot_id, slots
        """),
        {
            "job_id": job_id,
            "ids": new_ids(len(bots)),
            "bots": bots,
            "slots": [requests[each].slots for each in bots],
            "limits": [requests[each].limit for each in bots],
            "seconds": [requests[each].seconds for each in bots],
        },
    )
    return {row.bot_id: AcquiredSlots(row.id, row.slots) for row in rows}


async def acquire_next(
    session: WriteSession, slot_id: UUID, bot_id: UUID, request: SlotRequest, *, job_id: int
) -> bool:
    """Acquire one slot, or queue for a slot with priority over runners; released slots are reserved for the queue.

    Returns whether the slot was acquired; if not, call again with the same id.
    """
    await session.execute(
        text("SELECT pg_advisory_xact_lock(hashtextextended('concurrency-slots/' || :bot, 0))"), {"bot": str(bot_id)}
    )
    await session.execute(
        text("""
            INSERT INTO conversations.concurrency_slots (id, bot_id, job_id, slots, expires_at, queued)
            VALUES (:id, :bot, :job_id, 1, clock_timestamp() + make_interval(secs => :seconds), true)
            ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at
        """),
        {"id": slot_id, "bot": bot_id, "job_id": job_id, "seconds": request.seconds},
    )
    acquired = await session.execute(
        text("""
            UPDATE conversations.concurrency_slots SET queued = false
            WHERE id = :id AND (
                SELECT COALESCE(sum(slots), 0) FROM conversations.concurrency_slots
                WHERE bot_id = :bot AND NOT queued AND expires_at > clock_timestamp()
            ) < :limit
            RETURNING id
        """),
        {"id": slot_id, "bot": bot_id, "limit": request.limit},
    )
    return acquired.first() is not None


async def release(session: WriteSession, slots: Mapping[UUID, int]) -> None:
    """Release slots, by the id under which they were acquired."""
    if not slots:
        return
    # In one order, lest two batches deadlock; in a statement of its own, so that the next one sees how many are left.
    await session.execute(
        text("SELECT FROM conversations.concurrency_slots WHERE id = ANY(:ids) ORDER BY id FOR UPDATE"),
        {"ids": list(slots)},
    )
    await session.execute(
        text("""
            WITH released AS (
                SELECT * FROM unnest(CAST(:ids AS uuid[]), CAST(:slots AS int[])) AS r (id, slots)
            ), gone AS (
                DELETE FROM conversations.concurrency_slots AS s USING released
                WHERE s.id = released.id AND s.slots <= released.slots
            )
            UPDATE conversations.concurrency_slots AS s SET slots = s.slots - released.slots
            FROM released WHERE s.id = released.id AND s.slots > released.slots
        """),
        {"ids": list(slots), "slots": list(slots.values())},
    )


async def release_job(session: WriteSession, job_id: int) -> None:
    """Release all slots of a job that died or restarts; it will repeat its requests under the same keys."""
    statement = delete(ConcurrencySlotRow).where(ConcurrencySlotRow.job_id == bindparam("job_id", job_id, BigInteger))
    await session.execute(statement)


async def release_orphans(session: WriteSession, *, runners: str) -> None:
    """Release the slots of lost jobs. Jobs of the task `runners` also lose their slots while they are queued."""
    await session.execute(
        text("""
            DELETE FROM conversations.concurrency_slots AS s WHERE NOT EXISTS (
                SELECT FROM conversations.procrastinate_jobs
                WHERE id = s.job_id AND (status = 'doing' OR (status = 'todo' AND task_name <> :runners))
            )
        """),
        {"runners": runners},
    )
