"""`/v1/bots`: register, read and change bots, their versions and secrets."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request

from spotthebot.bots.bots.domain import Bot
from spotthebot.bots.bots.store import bots as bots_store
from spotthebot.bots.bots.store import versions as versions_store
from spotthebot.bots.deps import Changer, Context, Reader, ReaderOfBot, Registration, bot_of
from spotthebot.bots.registry import use_cases
from spotthebot.contracts.bots.registry import BotChangesIn, BotIn, BotOut, BotVersionIn, BotVersionOut, SecretIn
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
    caller: Changer, claim: Registration, context: Context, request: BotIn, *, probe: Probing = True
) -> BotOut:
    """Register a bot and probe it; the report says what to fix. Its replies change only with a new version."""
    return _to_out(await use_cases.register_bot(context, claim, caller, request, probe=probe))


@router.get("", operation_id="list_bots")
async def list_bots(
    context: Context,
    caller: Reader,
    paging: Paging,
    name: Annotated[Name | None, Query()] = None,
    team: Annotated[Name | None, Query(description="The bots of this team; a team's key sees its own alone.")] = None,
) -> Page[BotOut]:
    """List bots, oldest first; a team sees only its own bots."""
    rows = await bots_store.list_bots(
        context.database, caller, name=name, team=team, after=paging.after, limit=paging.limit + 1
    )
    return page_of(rows, paging, key=lambda bot: bot.id, to_out=_to_out)


@router.get("/{bot_id}", operation_id="get_bot")
async def get_bot(caller: ReaderOfBot, http: Request, bot_id: UUID) -> BotOut:
    """Return one bot, with its present version and its latest full probe."""
    return _to_out(bot_of(http, caller, bot_id))


@router.patch("/{bot_id}", operation_id="change_bot")
async def change_bot(
    session: Writing, caller: Changer, context: Context, bot_id: UUID, request: BotChangesIn
) -> BotOut:
    """Change a bot's description, domains, limits or status; omitted fields stay unchanged."""
    return _to_out(await use_cases.change_bot(session, context, caller, bot_id, request))


@router.delete("/{bot_id}", status_code=204, operation_id="delete_bot")
async def delete_bot(caller: Changer, context: Context, bot_id: UUID) -> None:
    """Delete a mistaken registration. Answers 409 if the bot takes part in a collection or belongs to a partner set."""
    await use_cases.delete_bot(context, caller, bot_id)


@router.post("/{bot_id}/versions", status_code=201, operation_id="add_bot_version")
async def add_version(
    caller: Changer,
    claim: Registration,
    context: Context,
    bot_id: UUID,
    request: BotVersionIn,
    *,
    probe: Probing = True,
) -> BotOut:
    """Add the bot's next version and probe it. Earlier versions stay as they are."""
    return _to_out(await use_cases.add_version(context, claim, caller, bot_id, request, probe=probe))


@router.get("/{bot_id}/versions", operation_id="list_bot_versions")
async def list_versions(session: Reading, caller: Reader, paging: Paging, bot_id: UUID) -> Page[BotVersionOut]:
    """List a bot's versions, oldest first."""
    bot = await bots_store.get_bot(session, bot_id, caller)
    rows = await versions_store.list_versions(session, bot.id, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda version: version.id, to_out=BotVersionOut.of)


@router.put("/{bot_id}/secret", operation_id="replace_bot_secret")
async def replace_secret(
    session: Writing, caller: Changer, context: Context, bot_id: UUID, request: SecretIn
) -> BotOut:
    """Replace the secret of the present version, such as a renewed API key or a rotated signing secret."""
    return _to_out(await use_cases.replace_secret(session, context, caller, bot_id, request))


def _to_out(bot: Bot) -> BotOut:
    return BotOut.of(
        bot,
        paused_until=bot.paused_until if bot.pause_seconds else None,
        version=bot.version.number,
        protocol=bot.version.protocol,
        has_secret=bot.version.has_secret,
        configuration_sha256=bot.version.configuration_sha256,
    )
