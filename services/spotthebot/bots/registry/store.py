"""The SQL over a bot or version with its probes."""

from uuid import UUID

from sqlalchemy import delete, exists, select

from spotthebot.bots.bots.errors import NoSuchBot
from spotthebot.bots.bots.tables import BotRow, BotVersionRow
from spotthebot.bots.probes.tables import ProbeRow
from spotthebot.kit.database.sessions import ReadSession, WriteSession


async def get_registered(session: ReadSession, version_id: UUID) -> tuple[UUID, bool]:
    """Return the id of a version's bot, and whether a probe of this version is stored.

    Raises NoSuchBot if the bot was deleted.
    """
    of_version = exists().where(ProbeRow.bot_id == BotVersionRow.bot_id, ProbeRow.version == BotVersionRow.number)
    statement = select(BotVersionRow.bot_id, of_version).where(BotVersionRow.id == version_id)
    found = (await session.execute(statement)).one_or_none()
    if found is None:
        raise NoSuchBot(bot_id=version_id)
    bot_id, is_probed = found
    return bot_id, is_probed


async def delete_bot(session: WriteSession, bot_id: UUID) -> None:
    """Delete a bot, its versions and its probes."""
    for row, column in ((ProbeRow, ProbeRow.bot_id), (BotVersionRow, BotVersionRow.bot_id), (BotRow, BotRow.id)):
        await session.execute(delete(row).where(column == bot_id))
