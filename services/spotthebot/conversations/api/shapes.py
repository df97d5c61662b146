"""A conversation as it goes over the wire, for all endpoints that show one."""

from spotthebot.contracts.conversations import ConversationOut
from spotthebot.conversations.domain.conversations import Conversation


def conversation_out(conversation: Conversation) -> ConversationOut:
    """Shape a conversation with its turns so far."""
    return ConversationOut(
        id=conversation.id,
        collection_id=conversation.collection_id,
        external_id=conversation.external_id,
        state=conversation.state,
        failure=conversation.failure,
        participants=conversation.participants,
        opening=conversation.opening_turns,
        opening_shown=conversation.opening_shown,
        turns=conversation.spoken_turns,
    )
