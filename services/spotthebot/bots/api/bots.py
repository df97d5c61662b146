"""`/v1/bots`: register, read, and ask for replies."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from spotthebot.bots import store, use_cases
from spotthebot.bots.api.deps import Asker, Loaded, Owner, Reader
from spotthebot.bots.domain.bots import Bot
from spotthebot.contracts.bots import BotIn, BotOut, RepliesIn, RepliesOut
from spotthebot.contracts.wire import Name
from spotthebot.kit.web.idempotency import IdempotentRoute
from spotthebot.kit.web.pagination import Page, Paging, page_of
from spotthebot.kit.web.sessions import Reading, Writing

router = APIRouter(prefix="/v1/bots", tags=["bots"], route_class=IdempotentRoute)


@router.post("", status_code=201, operation_id="register_bot")
async def register_bot(session: Writing, caller: Owner, loaded: Loaded, wanted: BotIn) -> BotOut:
    """Register a bot. What answers never changes afterwards: another configuration is another bot."""
    return _shape(await use_cases.register_bot(session, loaded, caller, wanted))


@router.get("", operation_id="list_bots")
async def list_bots(
    session: Reading, caller: Reader, paging: Paging, name: Annotated[Name | None, Query()] = None
) -> Page[BotOut]:
    """List bots, oldest first; a team sees its own."""
    rows = await store.list_bots(session, caller, name=name, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda bot: bot.id, shape=_shape)


@router.get("/{bot_id}", operation_id="get_bot")
async def get_bot(session: Reading, caller: Reader, bot_id: UUID) -> BotOut:
    """Return one bot."""
    return _shape(await store.get_bot(session, bot_id, caller))


@router.post("/{bot_id}/replies", operation_id="reply")
async def reply(session: Reading, caller: Asker, loaded: Loaded, bot_id: UUID, wanted: RepliesIn) -> RepliesOut:
    """Ask a bot for one reply to each context; a context that fails says so and holds up no other."""
    return await use_cases.reply(session, loaded, caller, bot_id, wanted)


def _shape(bot: Bot) -> BotOut:
    return BotOut(
        id=bot.id,
        name=bot.name,
        team=bot.team,
        description=bot.description,
        domains=bot.domains,
        protocol=bot.protocol,
        configuration_sha256=bot.configuration_sha256,
        created_at=bot.created_at,
    )
