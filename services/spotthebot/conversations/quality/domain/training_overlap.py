"""The overlap of bots' turns with a training corpus: the same check as in the Spot The Bot paper, which found 2 %.

An exchange is two adjacent turns of a conversation: an utterance and its answer. It is in the training corpus if two
adjacent turns of a dialogue have the same words, ignoring case, spacing and punctuation.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from spotthebot.conversations.texts.domain import exchange_hashes

Hashes = npt.NDArray[np.uint64]


class TrainingExchanges:
    """All exchanges of a training split, in 8 bytes for each different exchange."""

    def __init__(self) -> None:
        self._parts: list[Hashes] = []
        self._known: Hashes = np.empty(0, dtype=np.uint64)

    def add(self, dialogues: Iterable[Sequence[str]]) -> None:
        """Add dialogues of the split; `count` includes them after the next `sort`."""
        self._parts.append(_numbers(b"".join(map(exchange_hashes, dialogues))))

    def sort(self) -> None:
        self._known = np.unique(np.concatenate([self._known, *self._parts]))
        self._parts = []

    def count(self, hashes: Sequence[bytes]) -> list[int]:
        """Return for each conversation how many of its exchanges are in the split.

        `hashes` has the `exchange_hashes` of each conversation.
        """
        numbers = [_numbers(each) for each in hashes]
        asked = np.concatenate([np.empty(0, dtype=np.uint64), *numbers])
        found = np.searchsorted(self._known, asked, side="right") > np.searchsorted(self._known, asked)
        ends = np.cumsum([len(each) for each in numbers], dtype=np.int64)
        total = np.concatenate(([0], np.cumsum(found)))
        return [int(total[end] - total[end - len(each)]) for end, each in zip(ends, numbers, strict=True)]


def _numbers(hashes: bytes) -> Hashes:
    return np.frombuffer(hashes, dtype=np.uint64)
