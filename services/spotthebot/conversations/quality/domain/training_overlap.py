"""How much of what bots say stands in a training corpus: the check of the Spot The Bot paper, which found 2 %.

An exchange is an utterance and the one that answers it: every two adjacent turns of a conversation. It stands in the
training corpus if two adjacent turns of one of its dialogues have the same words, whatever their case, spacing and
punctuation.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from spotthebot.conversations.texts.domain import exchange_hashes

Hashes = npt.NDArray[np.uint64]


class TrainingExchanges:
    """All exchanges of a training split, at 8 bytes for each different one."""

    def __init__(self) -> None:
        self._parts: list[Hashes] = []
        self._known: Hashes = np.empty(0, dtype=np.uint64)

    def add(self, dialogues: Iterable[Sequence[str]]) -> None:
        """Take dialogues of the split; `count` knows them after the next `sort`."""
        self._parts.append(_numbers(b"".join(map(exchange_hashes, dialogues))))

    def sort(self) -> None:
        self._known = np.unique(np.concatenate([self._known, *self._parts]))
        self._parts = []

    def count(self, hashes: Sequence[bytes]) -> list[int]:
        """Return how many exchanges of each conversation are known, from their `exchange_hashes`."""
        numbers = [_numbers(each) for each in hashes]
        asked = np.concatenate([np.empty(0, dtype=np.uint64), *numbers])
        found = np.searchsorted(self._known, asked, side="right") > np.searchsorted(self._known, asked)
        ends = np.cumsum([len(each) for each in numbers], dtype=np.int64)
        total = np.concatenate(([0], np.cumsum(found)))
        return [int(total[end] - total[end - len(each)]) for end, each in zip(ends, numbers, strict=True)]


def _numbers(hashes: bytes) -> Hashes:
    return np.frombuffer(hashes, dtype=np.uint64)
