"""The only SQL that cancels the conversations of a collection."""

from uuid import UUID

from sqlalchemy import text

from spotthebot.kit.database.sessions import WriteSession


async def cancel_conversations(session: WriteSession, collection_id: UUID) -> int:
    """End all conversations that still run; a turn that is on its way finds them ended. Returns how many."""
    # Locked first, in the order in which batches of turns lock them, so that neither deadlocks with the other.
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
