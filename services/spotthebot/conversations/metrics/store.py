"""Reads counts for operators when metrics are requested, each from counters or from a small index."""

from dataclasses import dataclass

from sqlalchemy import text

from spotthebot.kit.database.sessions import ReadSession
from spotthebot.kit.telemetry.queues import QueueDepth

TURNS = "turns"


@dataclass(frozen=True)
class ConversationCounts:
    """Counts of collections and chats."""

    collections: dict[str, int]
    conversations_open: int
    turns: QueueDepth
    turns_last_minute: int
    chats_open: int
    bots_unavailable: int


async def count(session: ReadSession) -> ConversationCounts:
    """Return the counts. Waiting turns are planned turns that collections in state `collecting` still lack."""
    states = await session.execute(
        text("SELECT state, count(*) AS number FROM conversations.collections GROUP BY state")
    )
    found = await session.execute(
        text("""
            WITH collecting AS (
                SELECT id, created_at, conversations - complete - failed - cancelled AS open,
                    GREATEST(turns_planned - turns, 0) AS missing
                FROM conversations.collections WHERE state = 'collecting' AND mode <> 'human_bot'
            ), said AS (
                SELECT max(begins_at) AS last, sum(turns) FILTER (
                    WHERE begins_at > now() - interval '1 minute'
                ) AS in_last_minute
                FROM conversations.turn_counts
                WHERE collection_id IN (
                    SELECT id FROM conversations.collections
                    WHERE state = 'collecting' OR finished_at > now() - interval '2 minutes'
                )
                    AND begins_at > now() - interval '1 day'
            )
            SELECT (SELECT COALESCE(sum(open), 0) FROM collecting) AS open,
                (SELECT COALESCE(sum(missing), 0) FROM collecting) AS missing,
                EXTRACT(EPOCH FROM now() - GREATEST(
                    (SELECT min(created_at) FROM collecting WHERE missing > 0 AND open > 0), (SELECT last FROM said)
                )) AS oldest_seconds,
                (SELECT COALESCE(in_last_minute, 0) FROM said) AS in_last_minute,
                (SELECT count(*) FROM conversations.chats WHERE state = 'chatting') AS chats,
                (SELECT count(*) FROM conversations.unavailable_bots) AS unavailable
        """)
    )
    row = found.one()
    waits = row.open > 0 and row.missing > 0
    return ConversationCounts(
        {each.state: each.number for each in states},
        int(row.open),
        QueueDepth(TURNS, int(row.missing) if waits else 0, max(0.0, float(row.oldest_seconds or 0)) if waits else 0.0),
        int(row.in_last_minute),
        row.chats,
        row.unavailable,
    )
