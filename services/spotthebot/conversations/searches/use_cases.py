"""Searches the conversations of a collection."""

from uuid import UUID

from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.conversations.domain import Conversation
from spotthebot.conversations.conversations.store import conversations as conversations_store
from spotthebot.conversations.searches import store
from spotthebot.conversations.searches.domain import ConversationQuery
from spotthebot.kit.database.sessions import ReadSession


async def search(
    session: ReadSession, collection_id: UUID, query: ConversationQuery, *, after: UUID | None, limit: int
) -> tuple[list[Conversation], UUID | None]:
    """Return found conversations of a collection, and the last conversation read if the search stopped early."""
    await collections_store.get_collection(session, collection_id)
    found, searched_to = await store.find_conversations(session, collection_id, query, after=after, limit=limit)
    return await conversations_store.list_by_ids(session, found), searched_to
