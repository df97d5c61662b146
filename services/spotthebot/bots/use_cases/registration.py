"""Registration: a new bot, or the next version of one, with its probe."""

from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import func

from spotthebot.bots import store
from spotthebot.bots.domain.bot_status import StatusEvent
from spotthebot.bots.domain.bots import Bot
from spotthebot.bots.domain.errors import BotRetired, TeamKeyWithoutTeam
from spotthebot.bots.use_cases.context import BotsContext
from spotthebot.bots.use_cases.probes import probe_in_transaction
from spotthebot.bots.use_cases.version_checks import check_version
from spotthebot.contracts.access import Role
from spotthebot.contracts.bots import BotIn, BotStatus, BotVersionIn, ProbeTrigger
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.database import WriteSession


async def register_bot(
    session: WriteSession, context: BotsContext, principal: Principal, request: BotIn, *, probe: bool
) -> Bot:
    """Register a bot for the caller's team and probe it in one transaction; without `probe` a heartbeat probes it."""
    if principal.role == Role.TEAM and principal.team is None:
        raise TeamKeyWithoutTeam
    checked = await check_version(session, context, principal, request)
    with context.probing(principal.team):
        bot_id = await store.bots.add_bot(session, request, team=principal.team)
        await store.versions.add_version(session, bot_id, request.protocol, checked.sealed_secret, checked.made_from)
        return await _probed(session, context, principal, bot_id, probe=probe)


async def add_version(
    session: WriteSession,
    context: BotsContext,
    principal: Principal,
    bot_id: UUID,
    request: BotVersionIn,
    *,
    probe: bool,
) -> Bot:
    """Add a bot's next version and probe it; running conversations keep the version that they began with."""
    bot = await store.bots.get_bot(session, bot_id, principal)
    if bot.status is BotStatus.RETIRED:
        raise BotRetired(name=bot.name)
    checked = await check_version(session, context, principal, request)
    with context.probing(principal.team):
        await store.versions.add_version(session, bot_id, request.protocol, checked.sealed_secret, checked.made_from)
        await store.bots.change_status(session, bot_id, StatusEvent.VERSION_ADDED, status_reason=None)
        return await _probed(session, context, principal, bot_id, probe=probe)


async def _probed(
    session: WriteSession, context: BotsContext, principal: Principal, bot_id: UUID, *, probe: bool
) -> Bot:
    bot = await store.bots.get_bot(session, bot_id, principal)
    if probe:
        started_at = datetime.now(UTC)
        await probe_in_transaction(session, context, bot, ProbeTrigger.REGISTRATION, started_at)
    else:
        await store.bots.change_bot(session, bot_id, {"next_probe_at": func.now()})
    return await store.bots.get_bot(session, bot_id, principal)
