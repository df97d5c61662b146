"""A corpus' dialogues and what is counted of them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from spotthebot.conversations.domain.quality.normalising import words


@dataclass(frozen=True)
class Dialogue:
    """A dialogue of people: turns alternate between two speakers, the first one begins."""

    key: str
    split: str
    turns: tuple[str, ...]
    persona: tuple[str, str] | None = None
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class SplitStatistics:
    """How much a split holds. An exchange is a turn of each speaker; half an exchange does not count."""

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


def count_by_split(dialogues: Iterable[Dialogue]) -> dict[str, SplitStatistics]:
    """Return what dialogues add to their splits, in the order of the splits' names."""
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
