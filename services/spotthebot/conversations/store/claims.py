"""The only SQL over who holds which conversations: runners claim them, let go of them, and may be gone."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text

from spotthebot.kit.database import ReadSession, WriteSession


@dataclass(frozen=True)
class Open:
    """A collection that has something to be said, and how many of its conversations runners hold."""

    id: UUID
    priority: int
    held: int


async def list_open(session: ReadSession) -> list[Open]:
    """Return the collections that go on, those to be served first first: by priority, then by who has least."""
    rows = await session.execute(
        text("""
            SELECT c.id, c.priority, COALESCE(h.held, 0) AS held
            FROM conversations.collections AS c
            LEFT JOIN (
                SELECT collection_id, count(*) AS held FROM conversations.conversations
                WHERE held_by IS NOT NULL GROUP BY collection_id
            ) AS h ON h.collection_id = c.id
            WHERE c.state = 'collecting'
            ORDER BY c.priority DESC, held, c.id
        """)
    )
    return [Open(row.id, row.priority, row.held) for row in rows]


async def claim(
    session: WriteSession, job_id: int, collection_id: UUID, *, limit: int, full: Sequence[UUID]
) -> list[UUID]:
    """Give a runner up to `limit` conversations that wait, the lowest rounds first; returns their ids.

    Left out are those whose next bot is away, or in `full`: no more questions fit there at the moment.
    """
    # One at a time, else two runners would look at the same rows and the second would get none of them.
    await session.execute(
        text("SELECT pg_advisory_xact_lock(hashtextextended('claim/' || :collection, 0))"),
        {"collection": str(collection_id)},
    )
    rows = await session.execute(
        text("""
            WITH askable AS (
                SELECT bot FROM conversations.collections AS c, unnest(c.bots) AS bot
                WHERE c.id = :collection AND c.state = 'collecting' AND bot <> ALL(:full)
                    AND NOT EXISTS (SELECT FROM conversations.away_bots WHERE bot_id = bot)
            ), waiting AS (
                SELECT found.id FROM askable, LATERAL (
                    SELECT id, round FROM conversations.conversations
                    WHERE collection_id = :collection AND next_bot = askable.bot
                        AND state = 'running' AND held_by IS NULL AND (not_before IS NULL OR not_before <= now())
                    ORDER BY round, id LIMIT :limit
                ) AS found
                ORDER BY found.round, found.id LIMIT :limit
            )
            UPDATE conversations.conversations AS c SET held_by = :job_id, not_before = NULL
            FROM waiting WHERE c.id = waiting.id AND c.state = 'running' AND c.held_by IS NULL
            RETURNING c.id
        """),
        {"collection": collection_id, "job_id": job_id, "limit": limit, "full": list(full)},
    )
    return list(rows.scalars())


async def release(session: WriteSession, job_id: int, ids: Sequence[UUID] | None = None) -> None:
    """Let go of a runner's conversations, or of those given, so that anybody can go on with them."""
    await session.execute(
        text(f"""
            UPDATE conversations.conversations AS c SET held_by = NULL, next_bot = {_NEXT_BOT}
            FROM conversations.pairs AS p
            WHERE p.collection_id = c.collection_id AND p.number = c.pair AND c.held_by = :job_id
                AND (CAST(:ids AS uuid[]) IS NULL OR c.id = ANY(:ids))
        """),  # noqa: S608 - a constant expression
        {"job_id": job_id, "ids": None if ids is None else list(ids)},
    )


async def release_orphans(session: WriteSession, *, max_attempts: int) -> int:
    """Let go of what runners held that ended in an unforeseen way; returns how many conversations that are.

    A runner whose worker died is in the queue again, where it may wait for long: others go on with what it held. One
    that failed counts as an attempt, so that a conversation that ends every runner is failed at last.
    """
    rows = await session.execute(
        text(f"""
            WITH orphans AS (
                SELECT c.id, COALESCE(j.status = 'failed', false)::int AS failed
                FROM conversations.conversations AS c
                LEFT JOIN conversations.procrastinate_jobs AS j ON j.id = c.held_by
                WHERE c.held_by IS NOT NULL AND j.status IS DISTINCT FROM 'doing'
                ORDER BY c.id FOR UPDATE OF c SKIP LOCKED
            ), released AS (
                UPDATE conversations.conversations AS c
                SET held_by = NULL, next_bot = {_NEXT_BOT}, attempts = c.attempts + orphans.failed,
                    state = CASE WHEN c.attempts + orphans.failed >= :most THEN 'failed' ELSE c.state END,
                    failure = CASE WHEN c.attempts + orphans.failed >= :most THEN 'Its worker failed repeatedly.' END
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
        {"most": max_attempts},
    )
    return int(rows.scalar_one())


async def count_waiting(session: ReadSession, *, most: int) -> int:
    """Count conversations that could be claimed now, up to `most`."""
    rows = await session.execute(
        text("""
            SELECT count(*) FROM (
                SELECT FROM conversations.collections AS c, unnest(c.bots) AS bot, LATERAL (
                    SELECT FROM conversations.conversations
                    WHERE collection_id = c.id AND next_bot = bot AND state = 'running' AND held_by IS NULL
                        AND (not_before IS NULL OR not_before <= now()) LIMIT :most
                ) AS waiting
                WHERE c.state = 'collecting' AND NOT EXISTS (SELECT FROM conversations.away_bots WHERE bot_id = bot)
                LIMIT :most
            ) AS claimable
        """),
        {"most": most},
    )
    return int(rows.scalar_one())


async def count_jobs(session: ReadSession, task: str) -> int:
    """Count the jobs of a task that wait or run."""
    rows = await session.execute(
        text("""
            SELECT count(*) FROM conversations.procrastinate_jobs
            WHERE task_name = :task AND status IN ('todo', 'doing')
        """),
        {"task": task},
    )
    return int(rows.scalar_one())


_NEXT_BOT = "(p.participants -> (c.turns_said % 2) ->> 'bot_id')::uuid"


async def take_oversight(session: WriteSession) -> bool:
    """Return whether this transaction is the one that looks after runners."""
    rows = await session.execute(text("SELECT pg_try_advisory_xact_lock(hashtextextended('oversight', 0))"))
    return bool(rows.scalar_one())


async def finish_ended(session: WriteSession) -> list[UUID]:
    """Complete collections whose conversations have all ended; returns which."""
    rows = await session.execute(
        text("""
            UPDATE conversations.collections SET state = 'complete', finished_at = now()
            WHERE state = 'collecting' AND mode <> 'human_bot' AND complete + failed + cancelled >= conversations
            RETURNING id
        """)
    )
    return list(rows.scalars())


async def fail_waiting(session: WriteSession, bot_id: UUID, reason: str) -> int:
    """Fail up to 5,000 conversations that wait for a bot, in collections that go on; returns how many."""
    rows = await session.execute(
        text("""
            WITH waiting AS (
                SELECT c.id FROM conversations.collections AS n
                JOIN conversations.conversations AS c ON c.collection_id = n.id
                WHERE n.state = 'collecting' AND :bot = ANY(n.bots)
                    AND c.next_bot = :bot AND c.state = 'running' AND c.held_by IS NULL
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
        """),
        {"bot": bot_id, "reason": reason},
    )
    return int(rows.scalar_one())
