"""`/v1/bots`: register, read, change, probe, and ask for replies."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from spotthebot.bots import store
from spotthebot.bots.api.deps import Asker, Changer, Owner, Reader, Tools
from spotthebot.bots.domain.bots import Bot, BotVersion
from spotthebot.bots.use_cases import probing, registering, replying
from spotthebot.contracts.bots import (
    BotChangesIn,
    BotIn,
    BotOut,
    BotVersionIn,
    BotVersionOut,
    ProbeOut,
    RepliesIn,
    RepliesOut,
    SecretIn,
)
from spotthebot.contracts.wire import Name
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Reading, Writing

router = APIRouter(prefix="/v1/bots", tags=["bots"], route_class=IdempotentRoute)

Probing = Annotated[
    bool, Query(description="Probe the bot and answer with the report; false: answer at once, probe soon.")
]


@router.post("", status_code=201, operation_id="register_bot")
async def register_bot(
    session: Writing, caller: Owner, tools: Tools, request: BotIn, *, probe: Probing = True
) -> BotOut:
    """Register a bot and probe it; the report says what to mend. What answers changes only with another version."""
    return _to_out(await registering.register_bot(session, tools, caller, request, probe=probe))


@router.get("", operation_id="list_bots")
async def list_bots(
    session: Reading, caller: Reader, paging: Paging, name: Annotated[Name | None, Query()] = None
) -> Page[BotOut]:
    """List bots, oldest first; a team sees its own."""
    rows = await store.list_bots(session, caller, name=name, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda bot: bot.id, to_out=_to_out)


@router.get("/{bot_id}", operation_id="get_bot")
async def get_bot(session: Reading, caller: Reader, bot_id: UUID) -> BotOut:
    """Return one bot, with its present version and its latest full probe."""
    return _to_out(await store.get_bot(session, bot_id, caller))


@router.patch("/{bot_id}", operation_id="change_bot")
async def change_bot(session: Writing, caller: Changer, tools: Tools, bot_id: UUID, request: BotChangesIn) -> BotOut:
    """Change a bot's description, domains, limits or status; what is left out stays."""
    return _to_out(await registering.change_bot(session, tools, caller, bot_id, request))


@router.post("/{bot_id}/versions", status_code=201, operation_id="add_bot_version")
async def add_version(
    session: Writing, caller: Owner, tools: Tools, bot_id: UUID, request: BotVersionIn, *, probe: Probing = True
) -> BotOut:
    """Give the bot another way of answering, and probe it. Versions before it stay as they are."""
    return _to_out(await registering.add_version(session, tools, caller, bot_id, request, probe=probe))


@router.get("/{bot_id}/versions", operation_id="list_bot_versions")
async def list_versions(session: Reading, caller: Reader, paging: Paging, bot_id: UUID) -> Page[BotVersionOut]:
    """List a bot's versions, oldest first."""
    bot = await store.get_bot(session, bot_id, caller)
    rows = await store.list_versions(session, bot.id, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda version: version.id, to_out=_version_to_out)


@router.put("/{bot_id}/secret", operation_id="replace_bot_secret")
async def replace_secret(session: Writing, caller: Changer, tools: Tools, bot_id: UUID, request: SecretIn) -> BotOut:
    """Replace the secret of the present version: an API key that was renewed, a signing secret that is rotated."""
    return _to_out(await registering.replace_secret(session, tools, caller, bot_id, request))


@router.post("/{bot_id}/probes", operation_id="probe_bot")
async def probe_bot(caller: Changer, tools: Tools, bot_id: UUID) -> ProbeOut:
    """Probe the bot now and answer with the report. The bot's status becomes what it says."""
    return await probing.probe_bot(tools, caller, bot_id)


@router.get("/{bot_id}/probes", operation_id="list_bot_probes")
async def list_probes(session: Reading, caller: Reader, paging: Paging, bot_id: UUID) -> Page[ProbeOut]:
    """List the latest hundred probes of a bot, heartbeats among them, oldest first."""
    bot = await store.get_bot(session, bot_id, caller)
    rows = await store.list_probes(session, bot.id, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda probe: probe.id, to_out=lambda probe: probe)


@router.post("/{bot_id}/replies", operation_id="reply")
async def reply(caller: Asker, tools: Tools, bot_id: UUID, request: RepliesIn) -> RepliesOut:
    """Ask a bot for one reply to each context; a context that fails says so and holds up no other."""
    return await replying.reply(tools, caller, bot_id, request)


def _to_out(bot: Bot) -> BotOut:
    return BotOut(
        id=bot.id,
        name=bot.name,
        team=bot.team,
        description=bot.description,
        domains=bot.domains,
        limits=bot.limits,
        status=bot.status,
        status_reason=bot.status_reason,
        version=bot.version.number,
        protocol=bot.version.protocol,
        has_secret=bot.version.sealed_secret is not None,
        configuration_sha256=bot.version.configuration_sha256,
        created_at=bot.created_at,
        probe=bot.probe,
    )


def _version_to_out(version: BotVersion) -> BotVersionOut:
    return BotVersionOut(
        number=version.number,
        protocol=version.protocol,
        has_secret=version.sealed_secret is not None,
        training_sha256=version.training_sha256,
        files_sha256=version.files_sha256,
        configuration_sha256=version.configuration_sha256,
        created_at=version.created_at,
    )
