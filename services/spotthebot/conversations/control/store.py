"""The only SQL that cancels the conversations of a collection."""

from uuid import UUID

from sqlalchemy import text

from spotthebot.kit.database.sessions import WriteSession


async def cancel_conversations(session: WriteSession, collection_id: UUID) -> int:
    """Cancel all running conversations and return their number. A turn that arrives later is not stored."""
    # Locked first, in the same order as batches of turns, so that the two can't deadlock.
    await session.execute(
        text("""
            SELECT count(*) FROM (
                SELECT FROM conversations.conversations
                WHERE collection_id = :collection AND state = 'running' ORDER BY id FOR UPDATE
            ) AS locked
        """),
        {"collection": collection_id},
    )
    cancelled = await session.scalar(
        text("""
            WITH cancelled AS (
                UPDATE conversations.conversations
                SET state = 'cancelled', runner_job_id = NULL, next_bot = NULL,
                    failure = 'The collection was cancelled.'
                WHERE collection_id = :collection AND state = 'running' RETURNING id
            )
            SELECT count(*) FROM cancelled
        """),
        {"collection": collection_id},
    )
    return int(cancelled or 0)
