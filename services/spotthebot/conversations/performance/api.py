"""`/v1/conversations`: a bot's conversations, which its team may read, and the bot's performance."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query

from spotthebot.contracts.bots.registry import BotOut
from spotthebot.contracts.conversations.performance import BotConversationOut, BotPerformanceOut
from spotthebot.contracts.wire import Name
from spotthebot.conversations.conversations.api import conversation_out
from spotthebot.conversations.conversations.domain import Conversation
from spotthebot.conversations.deps import Taker
from spotthebot.conversations.performance import use_cases
from spotthebot.conversations.performance.use_cases import BotRequest, find_bot, list_conversations_of_bot
from spotthebot.conversations.resources import ServiceResources
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.core.routes import CheckedRoute
from spotthebot.kit.web.database.sessions import Pool

router = APIRouter(prefix="/v1/conversations", tags=["conversations"], route_class=CheckedRoute)


async def _bot(
    caller: Taker,
    resources: ServiceResources,
    bot_id: Annotated[UUID | None, Query(description="A bot; a team's key can name its own.")] = None,
    bot: Annotated[Name | None, Query(description="The same by its name: give one of the two.")] = None,
) -> BotOut:
    return await find_bot(resources.bots, caller, BotRequest(bot_id, bot))


RequestedBot = Annotated[BotOut, Depends(_bot)]
"""The bot that a query names."""


@router.get("", operation_id="list_conversations_of_bot")
async def list_of_bot(paging: Paging, bot: RequestedBot, database: Pool, caller: Taker) -> Page[BotConversationOut]:
    """List a bot's conversations, oldest first; a team does not learn its partners' names."""
    async with database.read() as session:
        rows = await list_conversations_of_bot(session, caller, bot, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda row: row[0].id, to_out=lambda row: bot_conversation_out(*row))


@router.get("/performance", operation_id="get_bot_performance")
async def get_performance(
    bot: RequestedBot,
    database: Pool,
    _caller: Taker,
    collection_id: Annotated[
        tuple[UUID, ...], Query(max_length=100, description="Conversations of these collections; left out: of all.")
    ] = (),
    version: Annotated[
        int | None, Query(ge=1, lt=2**31, description="Conversations of this version of the bot; left out: of all.")
    ] = None,
) -> BotPerformanceOut:
    """Return a bot's performance: its conversations by state, its failures by reason, and its reply times."""
    async with database.read() as session:
        return await use_cases.get_performance(session, bot, collection_id, version)


def bot_conversation_out(conversation: Conversation, collection: str) -> BotConversationOut:
    """Convert a conversation with the name of its collection to its wire type."""
    return BotConversationOut.of(conversation_out(conversation), collection=collection)
