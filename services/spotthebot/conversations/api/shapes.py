"""Conversations and collections as they go over the wire, for all endpoints that show them."""

from spotthebot.contracts.conversations import CollectionOut, ConversationOut, TextsOut
from spotthebot.conversations.domain.conversations import Conversation
from spotthebot.conversations.store.collections import Collection


def conversation_out(conversation: Conversation) -> ConversationOut:
    """Shape a conversation with its turns so far."""
    return ConversationOut(
        id=conversation.id,
        collection_id=conversation.collection_id,
        external_id=conversation.external_id,
        state=conversation.state,
        ended_by=conversation.ended_by,
        failure=conversation.failure,
        participants=conversation.participants,
        opening=conversation.opening_turns,
        opening_shown=conversation.opening_shown,
        turns=conversation.spoken_turns,
    )


def texts_out(conversation: Conversation) -> TextsOut:
    """Shape a conversation for annotation, which must not learn who speaks."""
    return TextsOut(
        id=conversation.id,
        external_id=conversation.external_id,
        state=conversation.state,
        opening=conversation.opening_turns,
        opening_shown=conversation.opening_shown,
        turns=conversation.spoken_turns,
    )


def collection_out(collection: Collection) -> CollectionOut:
    """Shape a collection, with the time that is left at the rate of the last minute."""
    rate = collection.rate_turns_per_second
    left = collection.turns_planned - collection.turns
    return CollectionOut(
        id=collection.id,
        name=collection.name,
        domain=collection.domain,
        mode=collection.mode,
        state=collection.state,
        priority=collection.priority,
        conversations=collection.conversations,
        complete=collection.complete,
        failed=collection.failed,
        cancelled=collection.cancelled,
        waiting=collection.waiting,
        turns=collection.turns,
        turns_planned=collection.turns_planned,
        rate_turns_per_second=round(rate, 3) if rate else None,
        seconds_left=round(left / rate, 1) if rate else None,
        created_at=collection.created_at,
        finished_at=collection.finished_at,
    )
