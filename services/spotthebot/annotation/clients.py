"""Calls to `conversations`: the texts to annotate. They come without their participants."""

from collections.abc import AsyncIterator
from uuid import UUID

from spotthebot.annotation.domain.conversations import ShownConversation
from spotthebot.annotation.domain.errors import CollectionCancelled, CollectionNotComplete, UnknownCollection
from spotthebot.contracts.conversations import (
    CollectionOut,
    CollectionState,
    ConversationState,
    TextsOut,
)
from spotthebot.kit.client import PeerRefused, ServiceClient


class Conversations:
    """The conversations of a collection, as annotators may see them."""

    def __init__(self, conversations: ServiceClient) -> None:
        self._conversations = conversations

    async def require_complete(self, collection_id: UUID) -> None:
        """Raise UnknownCollection, CollectionCancelled or CollectionNotComplete unless a collection is complete."""
        try:
            answer = await self._conversations.get(f"/v1/collections/{collection_id}")
        except PeerRefused as refused:
            if refused.status == 404:
                raise UnknownCollection(collection_id=collection_id) from refused
            raise
        collection = CollectionOut.model_validate(answer)
        if collection.state is CollectionState.CANCELLED:
            raise CollectionCancelled(name=collection.name)
        if collection.state is not CollectionState.COMPLETE:
            unfinished = collection.conversations - collection.complete - collection.failed
            raise CollectionNotComplete(state=collection.state, unfinished=unfinished)

    async def shown(self, collection_id: UUID) -> AsyncIterator[ShownConversation]:
        """Yield the complete conversations in the collection's order, without their participants."""
        async for line in self._conversations.lines(f"/v1/collections/{collection_id}/texts/stream"):
            conversation = TextsOut.model_validate(line)
            if conversation.state is ConversationState.COMPLETE:
                yield ShownConversation(
                    conversation_id=conversation.id,
                    external_id=conversation.external_id,
                    opening=conversation.opening if conversation.opening_shown else (),
                    turns=conversation.turns,
                )
