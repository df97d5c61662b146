"""Features of a side of a segment without a model: weighted counts of words (tf-idf), and lengths."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import scipy
from numpy.typing import NDArray

from spotthebot.contracts.turns import Turn
from spotthebot.judges.trained.units import Side
from spotthebot.kit.text.words import words

MAX_WORDS: Final = 20_000
_LEAST_SEGMENTS: Final = 2
"""A word in fewer segments of the training data is left out."""

Shown = tuple[Sequence[Turn], Side]


@dataclass(frozen=True, eq=False)
class TextFeatures:
    """The words that count, with their weights, and the means and spreads of lengths, learnt from training data."""

    words: dict[str, int]
    rarity: NDArray[np.float64]
    mean: NDArray[np.float64]
    spread: NDArray[np.float64]

    @classmethod
    def learn(cls, shown: Sequence[Shown]) -> "TextFeatures":
        """Choose the words that are in most segments, and weigh each by log((1 + n) / (1 + segments with it)) + 1."""
        counts: Counter[str] = Counter()
        for turns, side in shown:
            counts.update(set(_terms(turns, side)))
        frequent = [(word, n) for word, n in counts.items() if n >= _LEAST_SEGMENTS]
        frequent.sort(key=lambda each: (-each[1], each[0]))
        kept = frequent[:MAX_WORDS]
        rarity = [math.log((1 + len(shown)) / (1 + n)) + 1 for _, n in kept]
        lengths = np.array([_lengths(turns, side) for turns, side in shown])
        spread = lengths.std(axis=0)
        return cls(
            words={word: at for at, (word, _) in enumerate(kept)},
            rarity=np.array(rarity),
            mean=lengths.mean(axis=0),
            spread=np.where(spread > 0, spread, 1.0),
        )

    @property
    def width(self) -> int:
        return len(self.words) + len(self.mean)

    def matrix(self, shown: Sequence[Shown]) -> "scipy.sparse.csr_array":
        """Return the features (segments, `width`): weighted words with a norm of 1, then standardised lengths."""
        rows, columns, values = [], [], []
        for row, (turns, side) in enumerate(shown):
            counts = Counter(self.words[term] for term in _terms(turns, side) if term in self.words)
            weights = {at: (1 + math.log(n)) * self.rarity[at] for at, n in counts.items()}
            norm = math.sqrt(sum(weight**2 for weight in weights.values()))
            for at, weight in weights.items():
                rows.append(row)
                columns.append(at)
                values.append(weight / norm)
        counted = scipy.sparse.csr_array((values, (rows, columns)), shape=(len(shown), len(self.words)))
        lengths = (np.array([_lengths(turns, side) for turns, side in shown]) - self.mean) / self.spread
        features: scipy.sparse.csr_array = scipy.sparse.hstack([counted, scipy.sparse.csr_array(lengths)], format="csr")
        return features


def _terms(turns: Sequence[Turn], side: Side) -> Iterator[str]:
    """Yield words and pairs of words of the side, and words of the other side; the other side's have a mark."""
    for turn in turns:
        found = words(turn.text)
        if turn.speaker != side:
            yield from (f"<{word}" for word in found)
            continue
        yield from found
        yield from (f"{first} {second}" for first, second in pairwise(found))


def _lengths(turns: Sequence[Turn], side: Side) -> list[float]:
    """Return lengths in words and turns, the variety of words, repeated turns, questions, and echoed words."""
    own = [words(turn.text) for turn in turns if turn.speaker == side]
    others = [words(turn.text) for turn in turns if turn.speaker != side]
    own_words, other_words = [word for each in own for word in each], [word for each in others for word in each]
    vocabulary = set(own_words)
    texts = [" ".join(each) for each in own]
    return [
        math.log1p(len(own_words)),
        math.log1p(len(other_words)),
        math.log1p(len(turns)),
        math.log1p(len(own_words) / max(len(own), 1)),
        len(vocabulary) / max(len(own_words), 1),
        1 - len(set(texts)) / max(len(texts), 1),
        sum("?" in turn.text for turn in turns if turn.speaker == side) / max(len(own), 1),
        len(vocabulary & set(other_words)) / max(len(vocabulary), 1),
    ]
