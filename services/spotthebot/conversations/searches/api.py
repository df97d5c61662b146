"""`/v1/collections/{id}/conversations`: a collection's conversations, searched by speakers, outcome and words."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query

from spotthebot.contracts.conversations.conversations import ConversationOut, ConversationState, Ending, NeighboursOut
from spotthebot.contracts.conversations.quality import FlagKind
from spotthebot.contracts.turns import MAX_TURNS
from spotthebot.contracts.wire import Name, Text
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.conversations.api import conversation_out
from spotthebot.conversations.deps import Reader
from spotthebot.conversations.searches import store
from spotthebot.conversations.searches.domain import SEARCHED_AT_ONCE, ConversationQuery
from spotthebot.conversations.searches.use_cases import search
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.core.routes import CheckedRoute
from spotthebot.kit.web.database.sessions import Reading

router = APIRouter(
    prefix="/v1/collections/{collection_id}/conversations", tags=["collections"], route_class=CheckedRoute
)
_Turns = Annotated[int | None, Query(ge=0, le=MAX_TURNS, description="Turns that were said, without the opening.")]


async def _query(
    participant: Annotated[Name | None, Query(description="What results call one of the two; people are HU.")] = None,
    state: Annotated[ConversationState | None, Query()] = None,
    ended_by: Annotated[Ending | None, Query(description="What ended those that are complete.")] = None,
    flag: Annotated[FlagKind | None, Query(description="Those with this quality flag.")] = None,
    min_turns: _Turns = None,
    max_turns: _Turns = None,
    text: Annotated[
        Text | None,
        Query(
            min_length=1,
            max_length=200,
            description=(
                "Those in which this is said, in upper or lower case. A request searches the texts of "
                f"{SEARCHED_AT_ONCE} conversations, so that a page may have fewer items than `limit`, or none, and a "
                "`next_cursor` all the same."
            ),
        ),
    ] = None,
) -> ConversationQuery:
    return ConversationQuery(participant, state, ended_by, flag, min_turns, max_turns, text)


Search = Annotated[ConversationQuery, Depends(_query)]


@router.get("", operation_id="list_conversations")
async def list_conversations(
    session: Reading, _caller: Reader, collection_id: UUID, paging: Paging, query: Search
) -> Page[ConversationOut]:
    """List a collection's conversations with their turns, in the order of its plan; with a search, only its results."""
    rows, searched_to = await search(session, collection_id, query, after=paging.after, limit=paging.limit + 1)
    return page_of(
        rows,
        paging,
        key=lambda conversation: conversation.id,
        to_out=conversation_out,
        searched_to=searched_to,
    )


@router.get("/{conversation_id}/neighbours", operation_id="get_neighbours")
async def get_neighbours(
    session: Reading, _caller: Reader, collection_id: UUID, conversation_id: UUID, query: Search
) -> NeighboursOut:
    """Return the conversations that come before and after this conversation in the same search."""
    await collections_store.get_collection(session, collection_id)
    previous, following = await store.find_neighbours(session, collection_id, query, conversation_id)
    return NeighboursOut(previous=previous, next=following)
