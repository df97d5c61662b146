"""Registration: a new bot, or the next version of a bot, with its probe; and changes that do not affect replies.

No transaction is open while another machine is asked. A registration checks the version (who may register it, its
address, its secret, and its sources), commits it with the bot as `probing`, probes it without a connection, and records
the report. If the process dies in between, the lease on the bot's probe ends and a heartbeat probes the bot. A repeat
with the same `Idempotency-Key` creates nothing: it returns the report of the first request or of the heartbeat. Before
a report is there, it tells the client when to repeat the request.

Descriptions, limits, statuses and secrets are changed without a new version.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from spotthebot.bots.bots.domain import OWNER_EVENTS, Bot, Fingerprints, StatusEvent
from spotthebot.bots.bots.store import bots as bots_store
from spotthebot.bots.bots.store import versions as versions_store
from spotthebot.bots.context import BotsContext
from spotthebot.bots.hosted_models import store as hosted_models_store
from spotthebot.bots.probes.use_cases import record_probe, run_probe
from spotthebot.bots.protocols.builtin import with_plugin
from spotthebot.bots.registry import store
from spotthebot.bots.registry.errors import (
    BotIsProbed,
    BotRetired,
    BotTookPart,
    HostingIsForAdministrators,
    SecretNotUsed,
    StatusNotForOwners,
    TeamKeyWithoutTeam,
)
from spotthebot.contracts.access import Role
from spotthebot.contracts.bots.probes import ProbeTrigger
from spotthebot.contracts.bots.protocols import (
    BuiltinProtocol,
    OpenAIProtocol,
    Protocol,
    TransformersProtocol,
    TritonProtocol,
    WebhookProtocol,
)
from spotthebot.contracts.bots.registry import BotChangesIn, BotIn, BotStatus, BotVersionIn, SecretIn
from spotthebot.inference.model_files import files_in, files_sha256_of
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.crypto.signatures import NotASigningSecret, signing_key
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.errors import FieldError
from spotthebot.kit.ids import new_id
from spotthebot.kit.outbound.errors import AddressNotAllowed, UrlNotUsable
from spotthebot.kit.web.database.claims import Claim, KeyClaimed, RequestUnderWay

_LONGEST_WAIT_SECONDS = 10
_AT_ONCE = timedelta()
Insert = Callable[[WriteSession, timedelta], Awaitable[UUID]]
"""Prepares the bot for its next version, with a probe due after a time, and returns the bot's id."""


async def register_bot(context: BotsContext, claim: Claim, principal: Principal, request: BotIn, *, probe: bool) -> Bot:
    """Register a bot for the caller's team and probe it; without `probe`, a heartbeat soon probes it."""
    if principal.role == Role.TEAM and principal.team is None:
        raise TeamKeyWithoutTeam

    async def insert(session: WriteSession, probe_in: timedelta) -> UUID:
        return await bots_store.add_bot(session, request, team=principal.team, probe_in=probe_in)

    return await _register(context, claim, principal, request, insert, team=principal.team, probe=probe)


async def add_version(
    context: BotsContext, claim: Claim, principal: Principal, bot_id: UUID, request: BotVersionIn, *, probe: bool
) -> Bot:
    """Add a bot's next version and probe it; running conversations keep the version that they began with."""
    async with context.database.read() as session:
        bot = await bots_store.get_bot(session, bot_id, principal)

    async def insert(session: WriteSession, probe_in: timedelta) -> UUID:
        if await bots_store.begin_version(session, bot_id, probe_in=probe_in) is None:
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
                await versions_store.add_version(
                    session, version_id, bot_id, checked.protocol, checked.sealed_secret, checked.made_from
                )
                bot = await bots_store.get_bot(session, bot_id, principal)
            return await _probed(context, principal, bot) if probe else bot
    except KeyClaimed:
        return await _register(context, claim, principal, request, insert, team=team, probe=probe)


async def _probed(context: BotsContext, principal: Principal, bot: Bot) -> Bot:
    started_at = datetime.now(UTC)
    report = await run_probe(context, bot)
    async with context.database.write() as session:
        await record_probe(session, context, bot, ProbeTrigger.REGISTRATION, started_at, report)
        return await bots_store.get_bot(session, bot.id, principal)


async def _find_earlier(context: BotsContext, claim: Claim, principal: Principal, *, probe: bool) -> Bot | None:
    """Return the bot of an earlier request with the same key, once its version is probed; None without such a request.

    Raises RequestUnderWay as long as the first request's probe, or the heartbeat's probe after it, may still run. After
    that time, a bot without a probe is returned as `probing`. This answer is not stored, so that a later repeat gets
    the report.
    """
    created = await claim.find_created()
    if created is None:
        return None
    async with context.database.read() as session:
        bot_id, is_probed = await store.get_registered(session, created.id)
        bot = await bots_store.get_bot(session, bot_id, principal)
    is_abandoned = created.age > context.probe_lease and bot.status is not BotStatus.PROBING
    if not probe or is_probed or is_abandoned:
        return bot
    left = 2 * context.probe_lease - created.age
    if left > timedelta():
        raise RequestUnderWay(retry_after_seconds=min(_LONGEST_WAIT_SECONDS, math.ceil(left.total_seconds() / 4)))
    claim.leave_open()
    return bot


async def change_bot(
    session: WriteSession, context: BotsContext, principal: Principal, bot_id: UUID, request: BotChangesIn
) -> Bot:
    """Change the given fields. A suspended bot that becomes active is probed soon."""
    bot = await bots_store.get_bot(session, bot_id, principal)
    if request.status is not None:
        await _change_status(session, context, bot, request.status)
    if changes := request.model_dump(mode="json", exclude_none=True, exclude={"status"}):
        await bots_store.change_bot(session, bot_id, changes)
    return await bots_store.get_bot(session, bot_id, principal)


async def delete_bot(context: BotsContext, principal: Principal, bot_id: UUID) -> None:
    """Delete a mistaken registration with its versions and probes; raises BotTookPart, BotIsProbed.

    A collection that starts in the same moment does not find the bot.
    """
    async with context.database.read() as session:
        bot = await bots_store.get_bot(session, bot_id, principal)
    if bot.status is BotStatus.PROBING:
        raise BotIsProbed(name=bot.name)
    if await context.participation.takes_part(bot_id):
        raise BotTookPart(name=bot.name)
    async with context.database.write() as session:
        await store.delete_bot(session, bot_id)
    context.clients.discard(bot.version.id)


async def _change_status(session: WriteSession, context: BotsContext, bot: Bot, status: BotStatus) -> None:
    event = OWNER_EVENTS.get(status)
    if event is None:
        raise StatusNotForOwners(status=status, fields=(FieldError("/status", "must be active, suspended or retired"),))
    if event is StatusEvent.ACTIVATED:
        changed = await bots_store.activate_bot(session, bot.id)
    else:
        changed = await bots_store.stop_bot(session, bot.id, event)
        context.clients.discard(bot.version.id)
    if changed is None:
        raise BotRetired(name=bot.name)


async def replace_secret(
    session: WriteSession, context: BotsContext, principal: Principal, bot_id: UUID, request: SecretIn
) -> Bot:
    """Replace the secret of the present version; it stays the same version, because secrets do not affect replies."""
    bot = await bots_store.get_bot(session, bot_id, principal)
    sealed = seal_secret(context, bot.version.protocol, request.secret.get_secret_value())
    await versions_store.replace_secret(session, bot.version.id, sealed)
    return await bots_store.get_bot(session, bot_id, principal)


@dataclass(frozen=True)
class CheckedVersion:
    """The protocol, the sources and the encrypted secret of a version that may be stored."""

    protocol: Protocol
    made_from: Fingerprints
    sealed_secret: bytes | None


async def check_version(
    context: BotsContext, principal: Principal, request: BotVersionIn, *, team: str | None
) -> CheckedVersion:
    """Check a version before it is stored for a bot of a team or of the operator; no transaction is open.

    Raises an error for the first fault. Only administrators may register a model on Triton, on any server: its URL
    could be the URL of the suite's own server, and only administrators may use models there.
    """
    protocol = request.protocol
    if isinstance(protocol, TransformersProtocol | TritonProtocol) and principal.role != Role.ADMIN:
        raise HostingIsForAdministrators(kind=protocol.kind)
    await _check_address(context, protocol, team)
    sealed = seal_secret(context, protocol, request.secret.get_secret_value()) if request.secret else None
    if isinstance(protocol, BuiltinProtocol):
        protocol = with_plugin(protocol)
    return CheckedVersion(protocol, await _made_from(context, protocol, team), sealed)


def seal_secret(context: BotsContext, protocol: Protocol, secret: str) -> bytes:
    """Check a secret for this protocol and return it encrypted; raises SecretNotUsed, NotASigningSecret."""
    if not isinstance(protocol, WebhookProtocol | OpenAIProtocol):
        raise SecretNotUsed(
            kind=protocol.kind, fields=(FieldError("/secret", "leave it out: this protocol uses none"),)
        )
    if isinstance(protocol, WebhookProtocol):
        try:
            signing_key(secret)
        except NotASigningSecret as error:
            raise NotASigningSecret(fields=(FieldError("/secret", error.detail),)) from None
    return context.speakers.vault.seal(secret)


async def _check_address(context: BotsContext, protocol: Protocol, team: str | None) -> None:
    field = "base_url" if isinstance(protocol, OpenAIProtocol) else "url"
    url = getattr(protocol, field, None)
    if url is None:
        return
    try:
        await context.speakers.http_of(team).resolver.check_url(url)
    except (AddressNotAllowed, UrlNotUsable) as refused:
        fault = FieldError(f"/protocol/{field}", str(refused.facts["reason"]))
        raise type(refused)(**refused.facts, fields=(fault,)) from None
    except OSError:
        return  # a name that does not resolve yet: the probe reports it


async def _made_from(context: BotsContext, protocol: Protocol, team: str | None) -> Fingerprints:
    match protocol:
        case BuiltinProtocol():
            return Fingerprints(training_sha256=await context.speakers.builtin_bots.train(protocol, team))
        case TransformersProtocol() | TritonProtocol(url=None):
            async with context.database.read() as session:
                hosted = await hosted_models_store.find_model(session, protocol.model)
            if hosted is not None:
                return Fingerprints(files_sha256=hosted.files_sha256)
            if isinstance(protocol, TransformersProtocol) and (directory := context.folder.find(protocol.model)):
                files = await asyncio.to_thread(files_in, directory)
                return Fingerprints(files_sha256=files_sha256_of(files))
    return Fingerprints()
