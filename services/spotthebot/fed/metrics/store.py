"""Counts for the operator's metrics, read on request."""

from datetime import timedelta

from sqlalchemy import text

from spotthebot.kit.database.sessions import ReadSession
from spotthebot.kit.ids import first_id_at


async def count_scored_contexts(session: ReadSession) -> int:
    """Count the contexts that were scored in the last minute. The ids of their rows contain the time."""
    now = await session.scalar(text("SELECT now()"))
    statement = text("SELECT count(*) FROM fed.context_scores WHERE id >= :first")
    return await session.scalar(statement, {"first": first_id_at(now - timedelta(minutes=1))}) or 0
