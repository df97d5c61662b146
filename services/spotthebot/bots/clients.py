"""Calls to `conversations`: the dialogues that learning bots learn from."""

from uuid import UUID

from spotthebot.bots.domain.dialogue import Dialogue
from spotthebot.bots.domain.errors import UnknownCorpus
from spotthebot.clients import AsyncConversations, NotFound


class Corpora:
    """Dialogues by corpus and split."""

    def __init__(self, conversations: AsyncConversations) -> None:
        self._conversations = conversations

    async def dialogues(self, corpus_id: UUID, split: str) -> list[Dialogue]:
        """Return all dialogues of a split in their stable order; raises UnknownCorpus where there are none."""
        listed = self._conversations.list_dialogues(corpus_id, split=split)
        try:
            dialogues = [dialogue.turns async for dialogue in listed]
        except NotFound as refused:
            raise UnknownCorpus(corpus_id=corpus_id, split=split) from refused
        if not dialogues:
            raise UnknownCorpus(corpus_id=corpus_id, split=split)
        return dialogues
