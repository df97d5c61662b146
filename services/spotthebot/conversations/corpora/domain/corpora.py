"""Corpora, their dialogues, and the statistics of their splits."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any
from uuid import UUID

from spotthebot.contracts.conversations.corpora import CorpusVisibility
from spotthebot.contracts.conversations.ids import CorpusId
from spotthebot.kit.text.words import words


@dataclass(frozen=True)
class Dialogue:
    """A dialogue of people: two speakers alternate, beginning with the first."""

    key: str
    split: str
    turns: tuple[str, ...]
    persona: tuple[str, str] | None = None
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class StoredDialogue(Dialogue):
    """A dialogue of a corpus; ids grow in the order of the upload."""

    id: UUID = field(kw_only=True)


@dataclass(frozen=True)
class SplitStatistics:
    """The size of a split. An exchange is one turn of each speaker; a last turn without an answer does not count."""

    dialogues: int
    utterances: int
    exchanges: int
    words: int

    @property
    def mean_exchanges(self) -> float | None:
        return self.exchanges / self.dialogues if self.dialogues else None

    @property
    def words_per_turn(self) -> float | None:
        return self.words / self.utterances if self.utterances else None


@dataclass(frozen=True)
class Corpus:
    """A corpus and the statistics of each of its splits."""

    id: CorpusId
    name: str
    domain: str
    origin: str
    licence: str
    owner: str | None
    """The team that owns it; None for the operator."""
    visibility: CorpusVisibility
    splits: Mapping[str, SplitStatistics]
    created_at: datetime

    def is_learnable_by(self, team: str | None) -> bool:
        """Return whether bots of a team may learn from this corpus.

        None stands for the operator: the operator's bots may learn from all corpora.
        """
        return team is None or self.visibility is CorpusVisibility.SHARED or self.owner == team


class DialogueOutcome(Enum):
    """The outcome of storing a dialogue.

    It was stored, or is known with the same turns, or was refused because its key belongs to other turns.
    """

    STORED = 1
    KNOWN = 2
    OTHER_TURNS = 3


def count_by_split(dialogues: Iterable[Dialogue]) -> dict[str, SplitStatistics]:
    """Return the statistics of dialogues by split, in the order of the splits' names."""
    by_split: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for dialogue in dialogues:
        by_split[dialogue.split].append(dialogue.turns)
    return {split: _count(by_split[split]) for split in sorted(by_split)}


def _count(dialogues: list[tuple[str, ...]]) -> SplitStatistics:
    return SplitStatistics(
        dialogues=len(dialogues),
        utterances=sum(map(len, dialogues)),
        exchanges=sum(len(turns) // 2 for turns in dialogues),
        words=sum(len(words(turn)) for turns in dialogues for turn in turns),
    )
