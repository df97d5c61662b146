"""The SQL over a version with its probes."""

from uuid import UUID

from sqlalchemy import exists, select

from spotthebot.bots.bots.tables import BotVersionRow
from spotthebot.bots.probes.tables import ProbeRow
from spotthebot.kit.database.sessions import ReadSession


async def get_registered(session: ReadSession, version_id: UUID) -> tuple[UUID, bool]:
    """Return the id of a version's bot, and whether a probe of this version is stored."""
    of_version = exists().where(ProbeRow.bot_id == BotVersionRow.bot_id, ProbeRow.version == BotVersionRow.number)
    statement = select(BotVersionRow.bot_id, of_version).where(BotVersionRow.id == version_id)
    bot_id, is_probed = (await session.execute(statement)).one()
    return bot_id, is_probed
