"""What annotators see of a conversation, and who speaks there, as the service `conversations` has them."""

from collections.abc import AsyncIterator, Iterable
from uuid import UUID

from spotthebot.clients import AsyncConversations
from spotthebot.contracts.conversations.conversations import ConversationState, Participant, TextsOut
from spotthebot.contracts.turns import Turn


async def read_speakers(
    conversations: AsyncConversations, collections: Iterable[UUID]
) -> dict[UUID, tuple[Participant, Participant]]:
    """Return the two participants of each complete conversation; annotators and judges never learn them."""
    return {
        each.id: each.participants
        for collection in collections
        async for each in conversations.stream_speakers(collection)
        if each.state is ConversationState.COMPLETE
    }


async def read_texts(conversations: AsyncConversations, collections: Iterable[UUID]) -> AsyncIterator[TextsOut]:
    """Yield the texts of all conversations of these collections."""
    for collection in collections:
        async for text in conversations.stream_texts(collection):
            yield text


def turns_shown(texts: TextsOut, exchanges: int) -> tuple[Turn, ...]:
    """Return the turns that annotators see of a conversation at a length, those of a shown opening first."""
    return (*(texts.opening if texts.opening_shown else ()), *texts.turns[: 2 * exchanges])
