"""The only SQL over how many conversations of a collection of chats each bot has."""

from collections import defaultdict
from uuid import UUID

from sqlalchemy import text

from spotthebot.conversations.chats.domain.chats import BotProgress
from spotthebot.kit.database.sessions import ReadSession


async def count_held(session: ReadSession, collection_id: UUID) -> dict[UUID, int]:
    """Return how many conversations each bot has or will have by the present chats.

    Those of abandoned chats, which nobody rates, and those that were broken off do not count.
    """
    rows = await session.execute(
        text("""
            SELECT u.bot, count(*) AS held
            FROM conversations.chats AS c
            CROSS JOIN LATERAL unnest(c.bots) WITH ORDINALITY AS u (bot, number)
            LEFT JOIN conversations.conversations AS v ON v.id = c.conversations[u.number]
            WHERE c.collection_id = :collection AND c.state <> 'abandoned' AND v.state IS DISTINCT FROM 'failed'
            GROUP BY u.bot
        """),
        {"collection": collection_id},
    )
    return {row.bot: row.held for row in rows}


async def count_by_bot(session: ReadSession, collection_id: UUID) -> dict[UUID, BotProgress]:
    """Return the conversations of each bot that has any: by state, and how many of them were rated."""
    rows = await session.execute(
        text("""
            SELECT u.bot, v.state, count(*) AS number, count(*) FILTER (WHERE EXISTS (
                SELECT FROM jsonb_array_elements(c.ratings -> 'conversations') AS rating
                WHERE CAST(rating ->> 'number' AS int) = u.number
            )) AS rated
            FROM conversations.chats AS c
            CROSS JOIN LATERAL unnest(c.bots) WITH ORDINALITY AS u (bot, number)
            JOIN conversations.conversations AS v ON v.id = c.conversations[u.number]
            WHERE c.collection_id = :collection
            GROUP BY u.bot, v.state
        """),
        {"collection": collection_id},
    )
    states: dict[UUID, dict[str, int]] = defaultdict(dict)
    rated: dict[UUID, int] = defaultdict(int)
    for row in rows:
        states[row.bot][row.state] = row.number
        rated[row.bot] += row.rated
    return {bot: BotProgress(counts, rated[bot]) for bot, counts in states.items()}
