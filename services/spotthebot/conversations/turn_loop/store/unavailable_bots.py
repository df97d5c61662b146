"""The only SQL over unavailable bots: no worker requests a turn from them until they recover."""

from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert

from spotthebot.conversations.turn_loop.domain import UnavailableBot
from spotthebot.conversations.turn_loop.tables import UnavailableBotRow
from spotthebot.kit.database.sessions import ReadSession, WriteSession


async def mark_unavailable(session: WriteSession, bot_id: UUID, *, name: str, reason: str) -> bool:
    """Mark a bot unavailable; return whether it was available until now."""
    statement = insert(UnavailableBotRow).values(bot_id=bot_id, name=name, reason=reason).on_conflict_do_nothing()
    return (await session.scalar(statement.returning(UnavailableBotRow.bot_id))) is not None


async def mark_available(session: WriteSession, bot_id: UUID) -> bool:
    """Mark a bot available again; return whether it was unavailable until now."""
    statement = delete(UnavailableBotRow).where(UnavailableBotRow.bot_id == bot_id)
    return (await session.scalar(statement.returning(UnavailableBotRow.bot_id))) is not None


async def list_unavailable(session: ReadSession) -> list[UnavailableBot]:
    rows = await session.scalars(select(UnavailableBotRow).order_by(UnavailableBotRow.since))
    return [UnavailableBot(row.bot_id, row.name, row.reason, row.since) for row in rows]
