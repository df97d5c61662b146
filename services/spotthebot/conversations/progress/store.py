"""The only SQL over the progress of a collection: by pair, and its failures."""

from uuid import UUID

from sqlalchemy import text

from spotthebot.conversations.progress.domain import FailureReason, PairProgress
from spotthebot.kit.database.sessions import ReadSession


async def list_pairs(session: ReadSession, collection_id: UUID, *, after: int, limit: int) -> list[PairProgress]:
    """Return pairs with a number above `after`, with their conversations by state."""
    rows = await session.execute(
        text("""
            SELECT p.number, p.participants -> 0 ->> 'name' AS first, p.participants -> 1 ->> 'name' AS second, n.states
            FROM conversations.pairs AS p, LATERAL (
                SELECT COALESCE(jsonb_object_agg(state, number), '{}') AS states
                FROM (
                    SELECT state, count(*) AS number FROM conversations.conversations
                    WHERE collection_id = p.collection_id AND pair = p.number GROUP BY state
                ) AS by_state
            ) AS n
            WHERE p.collection_id = :collection AND p.number > :after ORDER BY p.number LIMIT :limit
        """),
        {"collection": collection_id, "after": after, "limit": limit},
    )
    return [
        PairProgress(number=row.number, participants=(row.first, row.second), conversations=row.states) for row in rows
    ]


async def list_failures(session: ReadSession, collection_id: UUID, *, offset: int, limit: int) -> list[FailureReason]:
    """Return the reasons why conversations failed, or wait for an unavailable or paused bot, most frequent first."""
    # Other failures count in `attempts`, a rate limit does not: conversations with 0 attempts wait for a rate limit.
    rows = await session.execute(
        text("""
            SELECT c.state AS state, c.failure AS reason, p.participants -> (c.turns_said % 2) ->> 'name' AS bot,
                count(*) AS number, CAST(NULL AS timestamptz) AS since, CAST(NULL AS timestamptz) AS until
            FROM conversations.conversations AS c
            JOIN conversations.pairs AS p ON p.collection_id = c.collection_id AND p.number = c.pair
            WHERE c.collection_id = :collection AND c.state = 'failed' GROUP BY 1, 2, 3
            UNION ALL
            SELECT 'waiting', a.reason, a.name, c.waiting, a.since, NULL
            FROM conversations.unavailable_bots AS a, LATERAL (
                SELECT count(*) AS waiting FROM conversations.conversations
                WHERE collection_id = :collection AND next_bot = a.bot_id AND state = 'running'
                    AND runner_job_id IS NULL
            ) AS c
            WHERE c.waiting > 0
            UNION ALL
            SELECT 'paused', 'Its server limits requests.', p.participants -> (c.turns_said % 2) ->> 'name',
                count(*), NULL, min(c.not_before)
            FROM conversations.conversations AS c
            JOIN conversations.pairs AS p ON p.collection_id = c.collection_id AND p.number = c.pair
            WHERE c.collection_id = :collection AND c.state = 'running' AND c.runner_job_id IS NULL
                AND c.next_bot IS NOT NULL AND c.not_before > now() AND c.attempts = 0
                AND NOT EXISTS (SELECT FROM conversations.unavailable_bots AS a WHERE a.bot_id = c.next_bot)
            GROUP BY 3
            ORDER BY number DESC, bot, reason LIMIT :limit OFFSET :offset
        """),
        {"collection": collection_id, "limit": limit, "offset": offset},
    )
    return [
        FailureReason(
            state=row.state,
            reason=row.reason or "",
            bot=row.bot,
            conversations=row.number,
            since=row.since,
            until=row.until,
        )
        for row in rows
    ]
