"""`/v1/conversations`: single ones, and those of a bot, which its team may read."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query

from spotthebot.contracts.bots import BotOut
from spotthebot.contracts.conversations import (
    BotConversationOut,
    BotPerformanceOut,
    ConversationOut,
    ExportedConversation,
)
from spotthebot.contracts.wire import Name
from spotthebot.conversations import store
from spotthebot.conversations.api.deps import BotsClient, DialogueReader, Reader, Taker
from spotthebot.conversations.api.shapes import bot_conversation_out, conversation_out
from spotthebot.conversations.use_cases import conversations
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.core.routes import CheckedRoute
from spotthebot.kit.web.database.sessions import Pool, Reading

router = APIRouter(prefix="/v1/conversations", tags=["conversations"], route_class=CheckedRoute)


async def _bot(
    caller: Taker,
    bots: BotsClient,
    bot_id: Annotated[UUID | None, Query(description="A bot; a team's key can name its own.")] = None,
    bot: Annotated[Name | None, Query(description="The same by its name: give one of the two.")] = None,
) -> BotOut:
    return await conversations.find_bot(bots, caller, conversations.BotRequest(bot_id, bot))


RequestedBot = Annotated[BotOut, Depends(_bot)]
"""The bot that a query names."""


@router.get("", operation_id="list_conversations_of_bot")
async def list_of_bot(paging: Paging, bot: RequestedBot, database: Pool, caller: Taker) -> Page[BotConversationOut]:
    """List the conversations that a bot takes part in, oldest first; a team does not learn its partners' names."""
    async with database.read() as session:
        rows = await conversations.list_conversations_of_bot(
            session, caller, bot, after=paging.after, limit=paging.limit + 1
        )
    return page_of(rows, paging, key=lambda row: row[0].id, to_out=lambda row: bot_conversation_out(*row))


@router.get("/performance", operation_id="get_bot_performance")
async def get_performance(
    bot: RequestedBot,
    database: Pool,
    _caller: Taker,
    collection_id: Annotated[
        tuple[UUID, ...], Query(max_length=100, description="Conversations of these collections; left out: of all.")
    ] = (),
) -> BotPerformanceOut:
    """Say how a bot did: its conversations by state, why they failed at its turn, and how fast it answered."""
    async with database.read() as session:
        return await conversations.get_performance(session, bot, collection_id)


@router.get("/{conversation_id}/export", operation_id="get_exported_conversation")
async def get_exported_conversation(
    session: Reading, _caller: DialogueReader, conversation_id: UUID
) -> ExportedConversation:
    """Return one conversation as its collection's export has it: times, ratings and quality flags too."""
    return (await store.exports.get_row(session, conversation_id)).conversation


@router.get("/{conversation_id}", operation_id="get_conversation")
async def get_conversation(session: Reading, _caller: Reader, conversation_id: UUID) -> ConversationOut:
    """Return one conversation."""
    return conversation_out(await store.conversations.get_conversation(session, conversation_id))
