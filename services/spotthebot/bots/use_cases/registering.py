"""Registering bots and their versions, changing what may change."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit
from uuid import UUID

from sqlalchemy import func

from spotthebot.bots import store, store_hosting
from spotthebot.bots.domain.bots import Bot, Fingerprints, fingerprint_dialogues
from spotthebot.bots.domain.builtin import BuiltinModel, build
from spotthebot.bots.domain.errors import (
    BotRetired,
    HostingIsForAdministrators,
    SecretNotUsed,
    StatusNotForOwners,
    TeamKeyWithoutTeam,
)
from spotthebot.bots.model_files import files_in
from spotthebot.bots.protocols.builtin import training_dialogues
from spotthebot.bots.use_cases.probing import probe_in_transaction
from spotthebot.bots.use_cases.workshop import Workshop
from spotthebot.contracts.access import Role
from spotthebot.contracts.bots import (
    BotChangesIn,
    BotIn,
    BotStatus,
    BotVersionIn,
    BuiltinProtocol,
    OpenAIProtocol,
    ProbeTrigger,
    Protocol,
    SecretIn,
    TransformersProtocol,
    TritonProtocol,
    WebhookProtocol,
)
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.errors import FieldError
from spotthebot.kit.outbound import AddressNotAllowed
from spotthebot.kit.signing import NotASigningSecret, signing_key

_BY_OWNERS = {BotStatus.ACTIVE, BotStatus.SUSPENDED, BotStatus.RETIRED}


@dataclass(frozen=True)
class _Checked:
    made_from: Fingerprints
    sealed_secret: bytes | None


async def register_bot(
    session: WriteSession, workshop: Workshop, principal: Principal, request: BotIn, *, probe: bool
) -> Bot:
    """Register a bot for the caller's team and probe it, all in one transaction; without a probe one comes later."""
    if principal.role == Role.TEAM and principal.team is None:
        raise TeamKeyWithoutTeam
    checked = await _check(session, workshop, principal, request)
    with workshop.probing(principal.team):
        bot_id = await store.add_bot(session, request, team=principal.team)
        await store.add_version(session, bot_id, request.protocol, checked.sealed_secret, checked.made_from)
        return await _probed(session, workshop, principal, bot_id, probe=probe)


async def add_version(
    session: WriteSession, workshop: Workshop, principal: Principal, bot_id: UUID, request: BotVersionIn, *, probe: bool
) -> Bot:
    """Give a bot another way of answering; conversations that are under way keep the version they began with."""
    bot = await store.get_bot(session, bot_id, principal)
    if bot.status is BotStatus.RETIRED:
        raise BotRetired(name=bot.name)
    checked = await _check(session, workshop, principal, request)
    with workshop.probing(principal.team):
        await store.add_version(session, bot_id, request.protocol, checked.sealed_secret, checked.made_from)
        if bot.status is not BotStatus.SUSPENDED:
            await store.change_bot(session, bot_id, {"status": BotStatus.PROBING, "status_reason": None})
        return await _probed(session, workshop, principal, bot_id, probe=probe)


async def change_bot(
    session: WriteSession, workshop: Workshop, principal: Principal, bot_id: UUID, request: BotChangesIn
) -> Bot:
    """Change what decides nothing of what the bot answers. A bot that is set active is probed soon."""
    bot = await store.get_bot(session, bot_id, principal)
    changes = request.model_dump(mode="json", exclude_none=True)
    if request.status is not None:
        if request.status not in _BY_OWNERS:
            raise StatusNotForOwners(status=request.status, fields=(FieldError("/status", "not set by owners"),))
        if bot.status is BotStatus.RETIRED and request.status is not BotStatus.RETIRED:
            raise BotRetired(name=bot.name)
        ends = request.status is BotStatus.ACTIVE and bot.status is BotStatus.SUSPENDED
        if request.status is BotStatus.ACTIVE:
            changes["status"] = BotStatus.PROBING if ends else bot.status
        if ends:
            changes["next_probe_at"] = func.now()
        elif request.status is not BotStatus.ACTIVE:
            changes |= {"next_probe_at": None, "status_reason": None}
            workshop.lines.forget(bot.version.id)
    if changes:
        await store.change_bot(session, bot_id, changes)
    return await store.get_bot(session, bot_id, principal)


async def replace_secret(
    session: WriteSession, workshop: Workshop, principal: Principal, bot_id: UUID, request: SecretIn
) -> Bot:
    """Put another secret in the place of the present version's; the version stays, as it answers the same."""
    bot = await store.get_bot(session, bot_id, principal)
    sealed = _seal(workshop, bot.version.protocol, request.secret.get_secret_value())
    await store.replace_secret(session, bot.version.id, sealed)
    workshop.lines.forget(bot.version.id)
    return await store.get_bot(session, bot_id, principal)


async def _probed(session: WriteSession, workshop: Workshop, principal: Principal, bot_id: UUID, *, probe: bool) -> Bot:
    bot = await store.get_bot(session, bot_id, principal)
    if probe:
        started_at = datetime.now(UTC)
        await probe_in_transaction(session, workshop, bot, ProbeTrigger.REGISTRATION, started_at)
    else:
        await store.change_bot(session, bot_id, {"next_probe_at": func.now()})
    return await store.get_bot(session, bot_id, principal)


async def _check(session: ReadSession, workshop: Workshop, principal: Principal, request: BotVersionIn) -> _Checked:
    protocol = request.protocol
    is_ours = isinstance(protocol, TransformersProtocol) or (isinstance(protocol, TritonProtocol) and not protocol.url)
    if is_ours and principal.role != Role.ADMIN:
        raise HostingIsForAdministrators(kind=protocol.kind)
    await _check_address(workshop, protocol)
    sealed = _seal(workshop, protocol, request.secret.get_secret_value()) if request.secret else None
    return _Checked(await _made_from(session, workshop, protocol), sealed)


async def _check_address(workshop: Workshop, protocol: Protocol) -> None:
    field = "base_url" if isinstance(protocol, OpenAIProtocol) else "url"
    url = getattr(protocol, field, None)
    if url is None:
        return
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "ws": 80}.get(parts.scheme, 443)
    try:
        await workshop.lines.ways.http.resolver.check_host(parts.hostname or "", port)
    except AddressNotAllowed as refused:
        fault = FieldError(f"/protocol/{field}", str(refused.facts["reason"]))
        raise AddressNotAllowed(**refused.facts, fields=(fault,)) from None
    except OSError:
        return  # a name that is not known yet: the probe says so


async def _made_from(session: ReadSession, workshop: Workshop, protocol: Protocol) -> Fingerprints:
    match protocol:
        case BuiltinProtocol():
            dialogues = await training_dialogues(protocol, workshop.lines.ways.corpora)
            model = BuiltinModel(protocol.model)
            await asyncio.to_thread(build, model, seed=protocol.seed, dialogues=dialogues)
            return Fingerprints(training_sha256=fingerprint_dialogues(dialogues) if dialogues else None)
        case TransformersProtocol() | TritonProtocol(url=None):
            hosted = await store_hosting.find_model(session, protocol.model)
            if hosted is not None:
                return Fingerprints(files_sha256=hosted.files_sha256)
            if isinstance(protocol, TransformersProtocol) and (directory := workshop.folder.find(protocol.model)):
                files = await asyncio.to_thread(files_in, directory)
                return Fingerprints(files_sha256=store_hosting.hash_of(files))
    return Fingerprints()


def _seal(workshop: Workshop, protocol: Protocol, secret: str) -> bytes:
    if not isinstance(protocol, WebhookProtocol | OpenAIProtocol):
        raise SecretNotUsed(kind=protocol.kind, fields=(FieldError("/secret", "not used by this protocol"),))
    if isinstance(protocol, WebhookProtocol):
        try:
            signing_key(secret)
        except NotASigningSecret as error:
            raise NotASigningSecret(fields=(FieldError("/secret", error.detail),)) from None
    return workshop.lines.ways.vault.seal(secret)
