"""Calls to `conversations`: the texts to annotate, without their participants."""

from collections.abc import AsyncIterator, Sequence
from uuid import UUID

from spotthebot.annotation.conversations.domain import Interactors, Mix, PackedTurns, ShownConversation
from spotthebot.annotation.conversations.errors import (
    CollectionCancelled,
    CollectionNotComplete,
    CollectionsNotMixed,
    CollectionWithoutChats,
    UnknownCollection,
)
from spotthebot.clients import AsyncConversations, Invalid, NotFound
from spotthebot.clients.conversations.transcripts import Mixing
from spotthebot.contracts.conversations.collections import CollectionState
from spotthebot.contracts.conversations.conversations import ConversationState
from spotthebot.contracts.conversations.ids import Mode
from spotthebot.contracts.conversations.progress import MixOut
from spotthebot.kit.errors import FieldError

_SHARE_UNREACHABLE = ":human-share-unreachable"
"""The end of the problem's type if the human share can't be reached."""
_HUMAN_BOT: Mode = "human_bot"


class Conversations:
    """The conversations of collections, as annotators may see them."""

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
            raise CollectionNotComplete(name=collection.name, state=collection.state, unfinished=unfinished)

    async def require_chats(self, collection_id: UUID, *, at: str) -> None:
        """Raise UnknownCollection or CollectionWithoutChats unless a collection holds chats, or imported chats.

        `at` is the JSON pointer to the collection in the request.
        """
        try:
            collection = await self._conversations.get_collection(collection_id)
            mode = collection.mode
            if mode == "import":
                mode = (await self._conversations.get_plan(collection_id)).held_as or mode
        except NotFound as refused:
            fields = (FieldError(at, "does not exist"),)
            raise UnknownCollection(collection_id=collection_id, fields=fields) from refused
        if mode != _HUMAN_BOT:
            fields = (FieldError(at, "has no chats"),)
            raise CollectionWithoutChats(name=collection.name, mode=mode, fields=fields)

    async def shown(self, collection_id: UUID) -> AsyncIterator[ShownConversation]:
        """Yield complete conversations in the collection's order, without their participants."""
        async for conversation in self._conversations.stream_texts(collection_id):
            if conversation.state is ConversationState.COMPLETE:
                yield ShownConversation(
                    conversation_id=conversation.id,
                    external_id=conversation.external_id,
                    opening=PackedTurns.of(conversation.opening if conversation.opening_shown else ()),
                    turns=PackedTurns.of(conversation.turns),
                )

    async def count_mix(self, mix: Mix) -> MixOut:
        """Return how many conversations a mix selects; raises CollectionsNotMixed."""
        try:
            return await self._conversations.get_mix(mix.collections[0], **_mixing(mix))
        except Invalid as refused:
            raise _not_mixed(refused) from refused

    async def taken(self, mix: Mix) -> list[UUID]:
        """Return the ids of the complete conversations that are long enough for a mix; raises CollectionsNotMixed."""
        try:
            hashes = self._conversations.stream_text_hashes(mix.collections[0], **_mixing(mix))
            return [each.id async for each in hashes]
        except Invalid as refused:
            raise _not_mixed(refused) from refused

    async def strata(self, mix: Mix) -> dict[UUID, str]:
        """Return a label for each conversation of a mix; conversations of the same two speakers share a label.

        Labels reveal no speaker. Each request draws new labels. They only spread conversations over packages, and are
        not stored. Raises CollectionsNotMixed.
        """
        try:
            strata = self._conversations.stream_strata(mix.collections[0], **_mixing(mix))
            return {each.id: each.stratum async for each in strata}
        except Invalid as refused:
            raise _not_mixed(refused) from refused

    async def interactors(self, collections: Sequence[UUID]) -> Interactors:
        """Return a hash for each conversation: of the person who chatted in it, or of random bytes if no person did."""
        first, *more = collections
        found = [each async for each in self._conversations.stream_interactors(first, also=more)]
        return Interactors(
            salt=bytes.fromhex(found[0].salt) if found else None,
            sha256={each.id: bytes.fromhex(each.interactor_sha256) for each in found},
        )


def _not_mixed(refused: Invalid) -> CollectionsNotMixed:
    reason = refused.problem.detail.rstrip(".")
    field = "/human_share" if refused.problem.type.endswith(_SHARE_UNREACHABLE) else "/collections"
    return CollectionsNotMixed(reason=reason, fields=(FieldError(field, f"{reason}."),))


def _mixing(mix: Mix) -> Mixing:
    return Mixing(also=mix.collections[1:], exchanges=mix.exchanges, human_share=mix.human_share, seed=mix.seed)
