"""Calls to `conversations`: the texts to annotate. They come without their participants."""

from collections.abc import AsyncIterator
from uuid import UUID

from spotthebot.annotation.domain.conversations import Interactors, ShownConversation
from spotthebot.annotation.domain.errors import CollectionCancelled, CollectionNotComplete, UnknownCollection
from spotthebot.clients import AsyncConversations, NotFound
from spotthebot.contracts.conversations import CollectionState, ConversationState


class Conversations:
    """The conversations of a collection, as annotators may see them."""

    def __init__(self, conversations: AsyncConversations) -> None:
        self._conversations = conversations

    async def require_complete(self, collection_id: UUID) -> None:
        """Raise UnknownCollection, CollectionCancelled or CollectionNotComplete unless a collection is complete."""
        try:
            collection = await self._conversations.get_collection(collection_id)
        except NotFound as refused:
            raise UnknownCollection(collection_id=collection_id) from refused
        if collection.state is CollectionState.CANCELLED:
            raise CollectionCancelled(name=collection.name)
        if collection.state is not CollectionState.COMPLETE:
            unfinished = collection.conversations - collection.complete - collection.failed
            raise CollectionNotComplete(state=collection.state, unfinished=unfinished)

    async def shown(self, collection_id: UUID) -> AsyncIterator[ShownConversation]:
        """Yield the complete conversations in the collection's order, without their participants."""
        async for conversation in self._conversations.stream_texts(collection_id):
            if conversation.state is ConversationState.COMPLETE:
                yield ShownConversation(
                    conversation_id=conversation.id,
                    external_id=conversation.external_id,
                    opening=conversation.opening if conversation.opening_shown else (),
                    turns=conversation.turns,
                )

    async def strata(self, collection_id: UUID) -> dict[UUID, str]:
        """Return labels of conversations, the same for those with the same two speakers, which they don't name.

        Labels are drawn for each request: they serve to spread conversations over packages, and are not stored.
        """
        return {each.id: each.stratum async for each in self._conversations.stream_strata(collection_id)}

    async def interactors(self, collection_id: UUID) -> Interactors:
        """Return a hash for each conversation, of the person who chatted in it or of random bytes."""
        found = [each async for each in self._conversations.stream_interactors(collection_id)]
        return Interactors(
            salt=bytes.fromhex(found[0].salt) if found else None,
            sha256={each.id: bytes.fromhex(each.interactor_sha256) for each in found},
        )
