"""Calls to `conversations`: the dialogues that learning bots learn from."""

from uuid import UUID

from spotthebot.bots.domain.dialogue import Dialogue
from spotthebot.bots.domain.errors import UnknownCorpus
from spotthebot.kit.client import PeerRefused, ServiceClient


class Corpora:
    """Dialogues by corpus and split."""

    def __init__(self, conversations: ServiceClient) -> None:
        self._conversations = conversations

    async def dialogues(self, corpus_id: UUID, split: str) -> list[Dialogue]:
        """Return all dialogues of a split in their stable order; raises UnknownCorpus where there are none."""
        pages = self._conversations.pages(f"/v1/corpora/{corpus_id}/dialogues", {"split": split})
        try:
            dialogues = [tuple(dialogue["turns"]) async for dialogue in pages]
        except PeerRefused as refused:
            if refused.status == 404:
                raise UnknownCorpus(corpus_id=corpus_id, split=split) from refused
            raise
        if not dialogues:
            raise UnknownCorpus(corpus_id=corpus_id, split=split)
        return dialogues
