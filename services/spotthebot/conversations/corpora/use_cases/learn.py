"""Learning: the dialogues of a split that a team's bots may learn from, without held-out dialogues."""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from uuid import UUID

from spotthebot.conversations.corpora import store
from spotthebot.conversations.corpora.domain.corpora import Corpus, StoredDialogue
from spotthebot.conversations.corpora.domain.held_out import exchange_numbers, is_held_out
from spotthebot.conversations.corpora.errors import NoSuchCorpus
from spotthebot.kit.database.sessions import ReadSession


@dataclass(frozen=True)
class Learner:
    """The bots of one team; without a team, the operator's bots."""

    team: str | None


@dataclass(frozen=True)
class LearnablePage:
    """Dialogues in the order of their upload. Bots may learn from all except those in `held_out`."""

    dialogues: Sequence[StoredDialogue]
    held_out: frozenset[UUID]


async def get_learnable_corpus(session: ReadSession, corpus_id: UUID, learner: Learner) -> Corpus:
    """Return a corpus that these bots may learn from; raises NoSuchCorpus, also if they may not learn from it."""
    corpus = await store.get_corpus(session, corpus_id)
    if not corpus.is_learnable_by(learner.team):
        raise NoSuchCorpus(corpus_id=corpus_id)
    return corpus


async def list_learnable(
    session: ReadSession, corpus_id: UUID, split: str, learner: Learner, *, after: UUID | None, limit: int
) -> LearnablePage:
    """Return dialogues of a split, and which of them are held out; raises NoSuchCorpus."""
    await get_learnable_corpus(session, corpus_id, learner)
    dialogues = await store.list_dialogues(session, corpus_id, split=split, after=after, limit=limit)
    exchanges = await asyncio.to_thread(_exchanges, dialogues)
    held_out = await store.find_held_out(session, set(chain.from_iterable(exchanges.values())))
    return LearnablePage(
        dialogues, frozenset(row_id for row_id, numbers in exchanges.items() if is_held_out(row_id, numbers, held_out))
    )


async def get_learnable_revision(session: ReadSession, corpus_id: UUID, split: str, learner: Learner) -> str:
    """Return a text that changes with the dialogues of a split and with the held-out exchanges; raises NoSuchCorpus.

    Dialogues and held-out exchanges are only added, so their two counts suffice.
    """
    corpus = await get_learnable_corpus(session, corpus_id, learner)
    dialogues = corpus.splits[split].dialogues if split in corpus.splits else 0
    people = await store.count_people(session)
    return hashlib.sha256(f"{dialogues}/{people}".encode()).hexdigest()[:16]


def _exchanges(dialogues: Sequence[StoredDialogue]) -> Mapping[UUID, frozenset[int]]:
    return {each.id: exchange_numbers(each.turns) for each in dialogues}
