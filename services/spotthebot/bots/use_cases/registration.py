"""Registration: a new bot, or the next version of one, with its probe.

No transaction is open while another machine is asked. A registration checks the version, commits it with the bot as
`probing`, probes it without a connection, and records the report. If the process dies in between, the lease on the
bot's probe ends and a heartbeat probes the bot. A repeat with the same `Idempotency-Key` never creates: it gets the
report of the first request, or the heartbeat's, and is told to come back until there is one.
"""

import math
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from uuid import UUID

from spotthebot.bots import store
from spotthebot.bots.domain.bots import Bot
from spotthebot.bots.domain.errors import BotRetired, TeamKeyWithoutTeam
from spotthebot.bots.use_cases.context import BotsContext
from spotthebot.bots.use_cases.probes import record_probe, run_probe
from spotthebot.bots.use_cases.version_checks import check_version
from spotthebot.contracts.access import Role
from spotthebot.contracts.bots import BotIn, BotStatus, BotVersionIn, ProbeTrigger
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.database import WriteSession
from spotthebot.kit.ids import new_id
from spotthebot.kit.web.database.claims import Claim, KeyClaimed, RequestUnderWay

_LONGEST_WAIT_SECONDS = 10
_AT_ONCE = timedelta()
Insert = Callable[[WriteSession, timedelta], Awaitable[UUID]]
"""Makes the bot ready for its next version, whose probe is due after a time, and returns the bot's id."""


async def register_bot(context: BotsContext, claim: Claim, principal: Principal, request: BotIn, *, probe: bool) -> Bot:
    """Register a bot for the caller's team and probe it; without `probe` a heartbeat does so soon."""
    if principal.role == Role.TEAM and principal.team is None:
        raise TeamKeyWithoutTeam

    async def insert(session: WriteSession, probe_in: timedelta) -> UUID:
        return await store.bots.add_bot(session, request, team=principal.team, probe_in=probe_in)

    return await _register(context, claim, principal, request, insert, team=principal.team, probe=probe)


async def add_version(
    context: BotsContext, claim: Claim, principal: Principal, bot_id: UUID, request: BotVersionIn, *, probe: bool
) -> Bot:
    """Add a bot's next version and probe it; running conversations keep the version that they began with."""
    async with context.database.read() as session:
        bot = await store.bots.get_bot(session, bot_id, principal)

    async def insert(session: WriteSession, probe_in: timedelta) -> UUID:
        if await store.bots.begin_version(session, bot_id, probe_in=probe_in) is None:
            raise BotRetired(name=bot.name)
        return bot_id

    return await _register(context, claim, principal, request, insert, team=bot.team, probe=probe)


async def _register(
    context: BotsContext,
    claim: Claim,
    principal: Principal,
    request: BotVersionIn,
    insert: Insert,
    *,
    team: str | None,
    probe: bool,
) -> Bot:
    if (bot := await _find_earlier(context, claim, principal, probe=probe)) is not None:
        return bot
    checked = await check_version(context, principal, request, team=team)
    version_id = new_id()
    try:
        with context.probing(principal.team) if probe else nullcontext():
            async with context.database.write() as session:
                await claim.commit_with(session, version_id)
                bot_id = await insert(session, context.probe_lease if probe else _AT_ONCE)
                await store.versions.add_version(
                    session, version_id, bot_id, request.protocol, checked.sealed_secret, checked.made_from
                )
                bot = await store.bots.get_bot(session, bot_id, principal)
            return await _probed(context, principal, bot) if probe else bot
    except KeyClaimed:
        return await _register(context, claim, principal, request, insert, team=team, probe=probe)


async def _probed(context: BotsContext, principal: Principal, bot: Bot) -> Bot:
    started_at = datetime.now(UTC)
    report = await run_probe(context, bot)
    async with context.database.write() as session:
        await record_probe(session, context, bot, ProbeTrigger.REGISTRATION, started_at, report)
        return await store.bots.get_bot(session, bot.id, principal)


async def _find_earlier(context: BotsContext, claim: Claim, principal: Principal, *, probe: bool) -> Bot | None:
    """Return the bot of an earlier request with the same key, once its version is probed; None if there was none.

    Raises RequestUnderWay for as long as the first request's probe and then a heartbeat's may take. A bot that is not
    probed by then is returned as `probing`, and that answer is not stored: a later repeat gets the report.
    """
    created = await claim.find_created()
    if created is None:
        return None
    async with context.database.read() as session:
        bot_id, is_probed = await store.versions.get_registered(session, created.id)
        bot = await store.bots.get_bot(session, bot_id, principal)
    is_abandoned = created.age > context.probe_lease and bot.status is not BotStatus.PROBING
    if not probe or is_probed or is_abandoned:
        return bot
    left = 2 * context.probe_lease - created.age
    if left > timedelta():
        raise RequestUnderWay(retry_after_seconds=min(_LONGEST_WAIT_SECONDS, math.ceil(left.total_seconds() / 4)))
    claim.leave_open()
    return bot
