"""Calls to `conversations`: the dialogues that learning bots learn from, and where bots take part."""

from uuid import UUID

from spotthebot.bots.builtin_bots.errors import UnknownCorpus
from spotthebot.bots.questions.domain.dialogue import Dialogue
from spotthebot.clients import AsyncConversations, NotFound


class Corpora:
    """Fetches the dialogues that bots of a team may learn from; `conversations` decides which dialogues these are."""

    def __init__(self, conversations: AsyncConversations) -> None:
        self._conversations = conversations

    async def dialogues(self, corpus_id: UUID, split: str, team: str | None) -> list[Dialogue]:
        """Return the dialogues of a split in their stable order; raises UnknownCorpus if there are none."""
        listed = self._conversations.list_learnable_dialogues(corpus_id, split=split, team=team)
        try:
            dialogues = [dialogue.turns async for dialogue in listed]
        except NotFound as refused:
            raise UnknownCorpus(corpus_id=corpus_id, split=split) from refused
        if not dialogues:
            raise UnknownCorpus(corpus_id=corpus_id, split=split)
        return dialogues

    async def revision(self, corpus_id: UUID, split: str, team: str | None) -> str:
        """Return a text that changes whenever bots of the team may learn from other dialogues than before.

        Raises UnknownCorpus if the team may not learn from the corpus.
        """
        try:
            return (await self._conversations.learnable_revision(corpus_id, split=split, team=team)).revision
        except NotFound as refused:
            raise UnknownCorpus(corpus_id=corpus_id, split=split) from refused


class Participation:
    """Says whether a bot takes part in a collection or belongs to a partner set."""

    def __init__(self, conversations: AsyncConversations) -> None:
        self._conversations = conversations

    async def takes_part(self, bot_id: UUID) -> bool:
        if (await self._conversations.get_bot_performance(bot_id)).collections:
            return True
        sets = self._conversations.list_partner_sets()
        return any([bot_id in {partner.bot_id for partner in each.partners} async for each in sets])
