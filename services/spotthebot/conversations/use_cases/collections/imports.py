"""Importing conversations that took place elsewhere."""

from collections.abc import Sequence
from uuid import UUID

from spotthebot.contracts.conversations import (
    CollectionState,
    ConversationId,
    ConversationIn,
    ConversationState,
    Ending,
    ImportIn,
    StoredOut,
)
from spotthebot.conversations import store
from spotthebot.conversations.domain.collections import Collection
from spotthebot.conversations.domain.conversations import Conversation
from spotthebot.conversations.domain.errors import NotAnImport
from spotthebot.conversations.domain.held_out import PeoplesConversation
from spotthebot.kit.database import WriteSession
from spotthebot.kit.ids import new_ids


async def open_import(session: WriteSession, request: ImportIn) -> Collection:
    """Open a collection that takes uploads of conversations."""
    collection_id = await store.collections.add_collection(
        session,
        name=request.name,
        domain=request.domain,
        mode=request.mode,
        plan=request.model_dump(mode="json"),
        state=CollectionState.CANCELLED if request.cancelled else CollectionState.COMPLETE,
    )
    return await store.collections.get_collection(session, collection_id)


async def import_conversations(
    session: WriteSession, collection_id: UUID, uploaded: Sequence[ConversationIn]
) -> StoredOut:
    """Store uploaded conversations as complete; those that are stored already stay as they are."""
    collection = await store.collections.get_collection(session, collection_id)
    if collection.mode != "import":
        raise NotAnImport(name=collection.name)
    pairs = await store.conversations.number_pairs(session, collection.id, [each.participants for each in uploaded])
    conversations = [
        Conversation(
            id=ConversationId(each_id),
            collection_id=collection.id,
            external_id=each.external_id,
            state=ConversationState.COMPLETE,
            failure=None,
            participants=each.participants,
            opening=(),
            opening_shown=False,
            turns=tuple(turn.text for turn in each.turns),
            turns_planned=len(each.turns),
            seed=0,
            domain=collection.domain,
            pair=pairs[each.participants],
            ended_by=Ending.EXCHANGES,
        )
        for each_id, each in zip(new_ids(len(uploaded)), uploaded, strict=True)
    ]
    stored = frozenset(await store.conversations.add_conversations(session, conversations))
    turns = sum(len(each.turns) for each in conversations if each.id in stored)
    await store.collections.count_in(
        session, collection.id, conversations=len(stored), complete=len(stored), turns=turns, turns_planned=turns
    )
    await store.held_out.hold_out(
        session,
        [PeoplesConversation(each.history) for each in conversations if each.id in stored and each.has_person],
    )
    return StoredOut(stored=len(stored), already_there=len(uploaded) - len(stored))
