"""The only SQL over claims: runners claim and release conversations, and lost runners lose their conversations."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import text

from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.collections.domain import OpenCollection
from spotthebot.kit.database.sessions import ReadSession, WriteSession


async def list_open(session: ReadSession) -> list[OpenCollection]:
    """Return the collections that are collecting: higher priority first, then fewer claimed conversations first."""
    rows = await session.execute(
        text(f"""
            SELECT c.id, c.priority, c.trace, COALESCE(r.claimed, 0) AS claimed
            FROM conversations.collections AS c
            LEFT JOIN (
                SELECT collection_id, count(*) AS claimed FROM conversations.conversations
                WHERE runner_job_id IS NOT NULL GROUP BY collection_id
            ) AS r ON r.collection_id = c.id
            WHERE {collections_store.requests_turns("c")}
            ORDER BY c.priority DESC, claimed, c.id
        """)  # noqa: S608 - a constant condition
    )
    return [OpenCollection(row.id, row.priority, row.claimed, row.trace) for row in rows]


async def claim(
    session: WriteSession, job_id: int, collection_id: UUID, *, limit: int, full: Sequence[UUID]
) -> list[UUID]:
    """Claim up to `limit` waiting conversations for a runner, the lowest rounds first; returns their ids.

    Skips conversations whose next bot is unavailable or in `full`, the bots without a free concurrency slot.
    """
    # One runner at a time; otherwise two would select the same rows, and the second would get none of them.
    await session.execute(
        text("SELECT pg_advisory_xact_lock(hashtextextended('claim/' || :collection, 0))"),
        {"collection": str(collection_id)},
    )
    rows = await session.execute(
        text(f"""
            WITH askable AS (
                SELECT bot FROM conversations.collections AS c, unnest(c.bots) AS bot
                WHERE c.id = :collection AND {collections_store.requests_turns("c")} AND bot <> ALL(:full)
                    AND NOT EXISTS (SELECT FROM conversations.unavailable_bots WHERE bot_id = bot)
            ), waiting AS (
                SELECT found.id FROM askable, LATERAL (
                    SELECT id, round FROM conversations.conversations
                    WHERE collection_id = :collection AND next_bot = askable.bot
                        AND state = 'running' AND runner_job_id IS NULL AND (not_before IS NULL OR not_before <= now())
                    ORDER BY round, id LIMIT :limit
                ) AS found
                ORDER BY found.round, found.id LIMIT :limit
            )
            UPDATE conversations.conversations AS c SET runner_job_id = :job_id, not_before = NULL
            FROM waiting WHERE c.id = waiting.id AND c.state = 'running' AND c.runner_job_id IS NULL
            RETURNING c.id
        """),  # noqa: S608 - a constant condition
        {"collection": collection_id, "job_id": job_id, "limit": limit, "full": list(full)},
    )
    return list(rows.scalars())


async def release(session: WriteSession, job_id: int, ids: Sequence[UUID] | None = None) -> None:
    """Release a runner's conversations, or only `ids`, so that any runner can claim them."""
    await session.execute(
        text(f"""
            UPDATE conversations.conversations AS c SET runner_job_id = NULL, next_bot = {_NEXT_BOT}
            FROM conversations.pairs AS p
            WHERE p.collection_id = c.collection_id AND p.number = c.pair AND c.runner_job_id = :job_id
                AND (CAST(:ids AS uuid[]) IS NULL OR c.id = ANY(:ids))
        """),  # noqa: S608 - a constant expression
        {"job_id": job_id, "ids": None if ids is None else list(ids)},
    )


async def release_orphans(session: WriteSession, *, max_attempts: int) -> int:
    """Release the conversations of crashed or failed runners; return their number.

    If a worker dies, its runner is queued again and may wait for long, so other runners continue its conversations. A
    failed runner counts as an attempt for each of its conversations. So a conversation that makes every runner fail
    reaches `max_attempts` and is failed.
    """
    rows = await session.execute(
        text(f"""
            WITH orphans AS (
                SELECT c.id, COALESCE(j.status = 'failed', false)::int AS failed
                FROM conversations.conversations AS c
                LEFT JOIN conversations.procrastinate_jobs AS j ON j.id = c.runner_job_id
                WHERE c.runner_job_id IS NOT NULL AND j.status IS DISTINCT FROM 'doing'
                ORDER BY c.id FOR UPDATE OF c SKIP LOCKED
            ), released AS (
                UPDATE conversations.conversations AS c
                SET runner_job_id = NULL, next_bot = {_NEXT_BOT}, attempts = c.attempts + orphans.failed,
                    state = CASE WHEN c.attempts + orphans.failed >= :max_attempts THEN 'failed' ELSE c.state END,
                    failure = CASE WHEN c.attempts + orphans.failed >= :max_attempts
                        THEN 'Its worker failed repeatedly.' END
                FROM orphans, conversations.pairs AS p
                WHERE c.id = orphans.id AND p.collection_id = c.collection_id AND p.number = c.pair
                RETURNING c.id, c.collection_id, c.state
            ), counted AS (
                UPDATE conversations.collections AS c SET failed = c.failed + n.failed
                FROM (SELECT collection_id, count(*) AS failed FROM released WHERE state = 'failed' GROUP BY 1) AS n
                WHERE c.id = n.collection_id
            )
            SELECT count(*) FROM released
        """),  # noqa: S608 - a constant expression
        {"max_attempts": max_attempts},
    )
    return int(rows.scalar_one())


async def count_waiting(session: ReadSession, *, limit: int) -> int:
    """Count the conversations that can be claimed now, up to `limit`."""
    rows = await session.execute(
        text(f"""
            SELECT count(*) FROM (
                SELECT FROM conversations.collections AS c, unnest(c.bots) AS bot, LATERAL (
                    SELECT FROM conversations.conversations
                    WHERE collection_id = c.id AND next_bot = bot AND state = 'running' AND runner_job_id IS NULL
                        AND (not_before IS NULL OR not_before <= now()) LIMIT :limit
                ) AS waiting
                WHERE {collections_store.requests_turns("c")}
                    AND NOT EXISTS (SELECT FROM conversations.unavailable_bots WHERE bot_id = bot)
                LIMIT :limit
            ) AS claimable
        """),  # noqa: S608 - a constant condition
        {"limit": limit},
    )
    return int(rows.scalar_one())


async def count_jobs(session: ReadSession, task: str) -> int:
    """Count the waiting and running jobs of a task."""
    rows = await session.execute(
        text("""
            SELECT count(*) FROM conversations.procrastinate_jobs
            WHERE task_name = :task AND status IN ('todo', 'doing')
        """),
        {"task": task},
    )
    return int(rows.scalar_one())


_NEXT_BOT = "(p.participants -> (c.turns_said % 2) ->> 'bot_id')::uuid"


async def lock_maintenance(session: WriteSession) -> bool:
    """Return whether this transaction may do maintenance; of concurrent transactions only one may."""
    rows = await session.execute(text("SELECT pg_try_advisory_xact_lock(hashtextextended('maintenance', 0))"))
    return bool(rows.scalar_one())


async def fail_waiting(session: WriteSession, bot_id: UUID, reason: str) -> int:
    """Fail up to 5,000 conversations that wait for a bot, in collections that are collecting; return their number."""
    rows = await session.execute(
        text(f"""
            WITH waiting AS (
                SELECT c.id FROM conversations.collections AS n
                JOIN conversations.conversations AS c ON c.collection_id = n.id
                WHERE {collections_store.requests_turns("n")} AND :bot = ANY(n.bots)
                    AND c.next_bot = :bot AND c.state = 'running' AND c.runner_job_id IS NULL
                ORDER BY c.id LIMIT 5000 FOR UPDATE OF c SKIP LOCKED
            ), failed AS (
                UPDATE conversations.conversations AS c SET state = 'failed', failure = :reason
                FROM waiting WHERE c.id = waiting.id RETURNING c.id, c.collection_id
            ), counted AS (
                UPDATE conversations.collections AS c SET failed = c.failed + n.failed
                FROM (SELECT collection_id, count(*) AS failed FROM failed GROUP BY 1) AS n
                WHERE c.id = n.collection_id
            )
            SELECT count(*) FROM failed
        """),  # noqa: S608 - a constant condition
        {"bot": bot_id, "reason": reason},
    )
    return int(rows.scalar_one())
