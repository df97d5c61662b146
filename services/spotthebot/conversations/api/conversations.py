"""`/v1/conversations`: single ones, and those of a bot, which its team may read."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from spotthebot.contracts.conversations import ConversationOut
from spotthebot.conversations import store
from spotthebot.conversations.api.deps import BotsClient, Reader, Taker
from spotthebot.conversations.api.shapes import conversation_out
from spotthebot.conversations.use_cases import conversations
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.core.routes import CheckedRoute
from spotthebot.kit.web.database.sessions import Reading

router = APIRouter(prefix="/v1/conversations", tags=["conversations"], route_class=CheckedRoute)


@router.get("", operation_id="list_conversations_of_bot")
async def list_of_bot(
    session: Reading,
    caller: Taker,
    bots: BotsClient,
    paging: Paging,
    bot_id: Annotated[UUID, Query(description="A bot; a team's key can name its own.")],
) -> Page[ConversationOut]:
    """List the conversations that a bot takes part in, oldest first; a team does not learn its partners' names."""
    rows = await conversations.list_conversations_of_bot(
        session, bots, caller, bot_id, after=paging.after, limit=paging.limit + 1
    )
    return page_of(rows, paging, key=lambda conversation: conversation.id, to_out=conversation_out)


@router.get("/{conversation_id}", operation_id="get_conversation")
async def get_conversation(session: Reading, _caller: Reader, conversation_id: UUID) -> ConversationOut:
    """Return one conversation."""
    return conversation_out(await store.conversations.get_conversation(session, conversation_id))
