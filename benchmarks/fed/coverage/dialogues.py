"""Correlations with ratings whose annotators nobody names: turns of a dialogue are alike, ratings rise with length."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy

from benchmarks.fed.coverage.cells import FloatArray, Held, alike
from spotthebot.fed.stats.correlation import correlation, lead_over_length, partial_rank_correlation

_TRUTH: Final = 200_000
_RESAMPLES: Final = 300
RATED: Final = "Spearman's rho"
BOOTSTRAPPED: Final = "the same, percentile bootstrap over dialogues"
GIVEN: Final = "rho given length"
LEAD: Final = "rho less that of length"


@dataclass(frozen=True)
class Ratings:
    """Rated dialogues: `strength` is how much of the quality that people rate is in the scores."""

    dialogues: int
    turns: int
    strength: float

    @property
    def columns(self) -> tuple[str, ...]:
        return str(self.dialogues), str(self.turns), f"{self.truth()[0]:.2f}"

    def draw(self, chance: np.random.Generator, dialogues: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return scores, mean ratings and lengths, (dialogues, turns) each."""
        quality, longer, noise = (alike(chance, (dialogues, self.turns)) for _ in range(3))
        lengths = np.exp(5.5 + 0.6 * longer)
        scores = -150 / lengths + self.strength * quality + 0.5 * noise
        raters = 1 + 0.6 * quality[..., None] + 0.3 * longer[..., None]
        ratings = np.clip(np.round(raters + 0.7 * chance.normal(size=(*quality.shape, 5))), 0, 2).mean(axis=-1)
        return scores, ratings, lengths

    def truth(self) -> tuple[float, float, float]:
        """Return rho, rho given length, and the lead over length, of a very large sample."""
        scores, ratings, lengths = (
            scipy.stats.rankdata(each) for each in self.draw(np.random.default_rng(1), _TRUTH // self.turns)
        )
        xy, xz, yz = (
            float(np.corrcoef(one, other)[0, 1])
            for one, other in ((scores, ratings), (scores, lengths), (ratings, lengths))
        )
        return xy, (xy - xz * yz) / np.sqrt((1 - xz**2) * (1 - yz**2)), xy - yz

    def intervals(self, chance: np.random.Generator, truth: tuple[float, ...]) -> Iterator[Held]:
        drawn = self.draw(chance, self.dialogues)
        scores, ratings, lengths = (each.ravel() for each in drawn)
        dialogue = np.repeat(np.arange(self.dialogues), self.turns)
        rho = correlation(scores, ratings, dialogue=dialogue)
        given = partial_rank_correlation(scores, ratings, lengths, dialogue=dialogue)
        lead = lead_over_length(scores, ratings, lengths, dialogue=dialogue)
        yield RATED, rho.low, rho.high, truth[0]
        yield GIVEN, given.low, given.high, truth[1]
        yield LEAD, lead.low, lead.high, truth[2]
        yield BOOTSTRAPPED, *_percentiles(drawn[0], drawn[1], chance), truth[0]


def _percentiles(scores: FloatArray, ratings: FloatArray, chance: np.random.Generator) -> tuple[float, float]:
    """Return the bounds of a plain bootstrap, the rival: whole dialogues are drawn with replacement."""
    drawn = chance.integers(len(scores), size=(_RESAMPLES, len(scores)))
    ranks = [scipy.stats.rankdata(each[drawn].reshape(_RESAMPLES, -1), axis=1) for each in (scores, ratings)]
    x, y = (each - each.mean(axis=1, keepdims=True) for each in ranks)
    rho = np.sum(x * y, axis=1) / np.sqrt(np.sum(x * x, axis=1) * np.sum(y * y, axis=1))
    low, high = np.nanquantile(rho, [0.025, 0.975])
    return float(low), float(high)


NAMES: Final = ("Dialogues", "Turns", "True rho")
KINDS: Final = (RATED, BOOTSTRAPPED, GIVEN, LEAD)
CELLS: Final = tuple(
    Ratings(n, turns, strength) for n in (10, 30, 125) for turns in (1, 3) for strength in (0.0, 0.3, 1.0)
)
