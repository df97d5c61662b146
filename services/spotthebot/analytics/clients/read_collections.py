"""The speakers and the turns of collections, read from `conversations`."""

from collections.abc import Iterable
from uuid import UUID

from spotthebot.clients import AsyncConversations
from spotthebot.contracts.annotation.measures import ShownTurns, shown_turns_of
from spotthebot.contracts.conversations.conversations import ConversationState, SpeakersOut

"""The states of a collection that gets no further conversation."""


class ReadCollections:
    """Reads each collection once, however many campaigns show it."""

    def __init__(self, conversations: AsyncConversations) -> None:
        self._conversations = conversations
        self._speakers: dict[UUID, dict[UUID, tuple[str, str]]] = {}
        self._turns: dict[UUID, dict[UUID, ShownTurns]] = {}
        self._text_hashes: dict[UUID, dict[UUID, str]] = {}

    async def speakers(self, collections: Iterable[UUID]) -> dict[UUID, tuple[str, str]]:
        """Return the names of the two speakers of each complete conversation, in the order of the collections."""
        found: dict[UUID, tuple[str, str]] = {}
        for each in collections:
            if each not in self._speakers:
                spoken = self._conversations.stream_speakers(each)
                self._speakers[each] = speakers_of([spoke async for spoke in spoken])
            found |= self._speakers[each]
        return found

    async def turns(self, collections: Iterable[UUID]) -> dict[UUID, ShownTurns]:
        """Return which side spoke each turn of each conversation."""
        found: dict[UUID, ShownTurns] = {}
        for each in collections:
            if each not in self._turns:
                texts = self._conversations.stream_texts(each)
                self._turns[each] = {spoke.id: shown_turns_of(spoke) async for spoke in texts}
            found |= self._turns[each]
        return found

    async def text_hashes(self, collections: Iterable[UUID]) -> dict[UUID, str]:
        """Return a hash of the whole text of each complete conversation that has words."""
        found: dict[UUID, str] = {}
        for each in collections:
            if each not in self._text_hashes:
                hashes = self._conversations.stream_text_hashes(each)
                self._text_hashes[each] = {text.id: text.text_hash async for text in hashes if text.text_hash}
            found |= self._text_hashes[each]
        return found


def speakers_of(spoken: Iterable[SpeakersOut]) -> dict[UUID, tuple[str, str]]:
    """Return the names of the two speakers of each complete conversation."""
    complete = (spoke for spoke in spoken if spoke.state is ConversationState.COMPLETE)
    return {spoke.id: (spoke.participants[0].name, spoke.participants[1].name) for spoke in complete}
