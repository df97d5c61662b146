"""Correlations with ratings of known annotators, who are lenient or strict and have tastes of their own.

Each dialogue has two bots and is rated by three of the annotators, both bots by the same. A rating is the bot's quality
and some of the length, the annotator's leniency, the annotator's taste for length and for what FED's score measures,
and noise, on five points. The truth is the correlation of very many dialogues with three fresh annotators each.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import scipy

from benchmarks.fed.coverage.cells import Held, alike
from spotthebot.fed.stats.correlation import BesideLength, beside_length
from spotthebot.fed.stats.samples import AnnotatorRatings
from spotthebot.statistics.arrays import FloatArray, IntArray

_RATERS: Final = 3
_BOTS: Final = 2
_IN_TRUTH: Final = 60_000
_TASTE: Final = {0.0: 0.0, 0.05: 0.03, 0.18: 0.08}
"""The variance of either taste, by that of leniency."""
KINDS: Final = ("Spearman", "Kendall", "given length", "less that of length", "Spearman, annotators as they are")


@dataclass(frozen=True)
class Drawn:
    """Scores and lengths of items (n,), their ratings, and their clusters."""

    scores: FloatArray
    lengths: FloatArray
    ratings: AnnotatorRatings
    cluster: IntArray


@dataclass(frozen=True)
class Annotated:
    """Dialogues of two bots; `strength` is how much of the quality that people rate is in the scores."""

    dialogues: int
    annotators: int
    leniency: float
    strength: float

    @property
    def columns(self) -> tuple[str, ...]:
        rho = self.truth()[0]
        return f"{self.dialogues} dialogues", str(self.annotators), f"{self.leniency:.2f}", f"{rho:.2f}"

    def truth(self) -> tuple[float, ...]:
        return self._truth

    @cached_property
    def _truth(self) -> tuple[float, ...]:
        return _coefficients(self._draw(np.random.default_rng(1), _IN_TRUTH, fresh=True))

    def intervals(self, chance: np.random.Generator, truth: tuple[float, ...]) -> Iterator[Held]:
        return _intervals(self._draw(chance, self.dialogues, fresh=False), truth)

    def _draw(self, chance: np.random.Generator, dialogues: int, *, fresh: bool) -> Drawn:
        n = dialogues * _BOTS
        quality, longer, noise = (alike(chance, (dialogues, _BOTS)).ravel() for _ in range(3))
        lengths = np.exp(5.5 + 0.6 * longer)
        said = self.strength * quality + 0.5 * noise
        who = _who(chance, dialogues, self.annotators, fresh=fresh)
        ratings = _rate(chance, quality, longer, said, np.repeat(who, _BOTS, axis=0), self.leniency)
        item = np.repeat(np.arange(n), _RATERS)
        known = AnnotatorRatings(n, item, np.repeat(who, _BOTS, axis=0).ravel(), ratings.ravel())
        return Drawn(said - 150 / lengths, lengths, known, np.repeat(np.arange(dialogues), _BOTS))


@dataclass(frozen=True)
class Systems:
    """Bots of ten dialogues each, correlated by their means: each bot is an item.

    If scores are `apart`, they are of other dialogues of the same bots than the ratings.
    """

    bots: int
    annotators: int
    leniency: float
    strength: float
    dialogues: int = 10
    apart: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        return (
            f"{self.bots} bots{', scores of other dialogues' if self.apart else ''}",
            str(self.annotators),
            f"{self.leniency:.2f}",
            f"{self.truth()[0]:.2f}",
        )

    def truth(self) -> tuple[float, ...]:
        return self._truth

    @cached_property
    def _truth(self) -> tuple[float, ...]:
        return _coefficients(self._draw(np.random.default_rng(1), _IN_TRUTH // self.dialogues, fresh=True))

    def intervals(self, chance: np.random.Generator, truth: tuple[float, ...]) -> Iterator[Held]:
        return _intervals(self._draw(chance, self.bots, fresh=False), truth)

    def _draw(self, chance: np.random.Generator, bots: int, *, fresh: bool) -> Drawn:
        n = bots * self.dialogues
        of = np.repeat(np.arange(bots), self.dialogues)
        own = np.sqrt(0.3) * chance.normal(size=(3, bots))[:, of]

        def dialogues() -> tuple[FloatArray, FloatArray, FloatArray]:
            quality, longer, noise = own + np.sqrt(0.7) * chance.normal(size=(3, n))
            return quality, longer, self.strength * quality + 0.5 * noise

        quality, longer, said = dialogues()
        who = _who(chance, n, self.annotators, fresh=fresh)
        ratings = _rate(chance, quality, longer, said, who, self.leniency)
        cells, cell = np.unique((of[:, None] * (who.max() + 1) + who).ravel(), return_inverse=True)
        means = np.bincount(cell.ravel(), weights=ratings.ravel()) / np.bincount(cell.ravel())
        known = AnnotatorRatings(bots, cells // (who.max() + 1), cells % (who.max() + 1), means)
        _, longer, said = dialogues() if self.apart else (quality, longer, said)
        lengths = np.exp(5.5 + 0.6 * longer)
        scores, lengths = (each.reshape(bots, -1).mean(axis=1) for each in (said - 150 / lengths, lengths))
        return Drawn(scores, lengths, known, np.arange(bots))


def _who(chance: np.random.Generator, units: int, annotators: int, *, fresh: bool) -> IntArray:
    """Draw three annotators for each unit: of so many, or people who rate nothing else."""
    if fresh:
        return np.arange(units * _RATERS).reshape(units, _RATERS)
    return chance.random((units, annotators)).argsort(axis=1)[:, :_RATERS]


def _rate(
    chance: np.random.Generator, quality: FloatArray, longer: FloatArray, said: FloatArray, who: IntArray, icc: float
) -> FloatArray:
    lenient = np.sqrt(icc) * chance.normal(size=who.max() + 1)
    for_length, for_score = np.sqrt(_TASTE[icc]) * chance.normal(size=(2, who.max() + 1))
    tastes = for_length[who] * longer[:, None] + for_score[who] * said[:, None]
    noise = np.sqrt(0.6 - icc - 2 * _TASTE[icc]) * chance.normal(size=who.shape)
    opinion = (0.5 * quality + 0.3 * longer)[:, None] + lenient[who] + tastes + noise
    rated: FloatArray = np.clip(np.round(3 + 1.2 * opinion), 1, 5)
    return rated


def _coefficients(drawn: Drawn) -> tuple[float, ...]:
    rated = drawn.ratings.means()
    x, y, z = (scipy.stats.rankdata(each) for each in (drawn.scores, rated, drawn.lengths))
    xy, xz, yz = (float(np.corrcoef(one, other)[0, 1]) for one, other in ((x, y), (x, z), (y, z)))
    tau = float(scipy.stats.kendalltau(drawn.scores, rated).statistic)
    return xy, tau, (xy - xz * yz) / np.sqrt((1 - xz**2) * (1 - yz**2)), xy - yz, xy


def _intervals(drawn: Drawn, truth: tuple[float, ...]) -> Iterator[Held]:
    found = beside_length(drawn.scores, drawn.ratings, drawn.lengths, dialogue=drawn.cluster)
    given: BesideLength = beside_length(drawn.scores, drawn.ratings.means(), drawn.lengths, dialogue=drawn.cluster)
    results = (found.spearman, found.kendall, found.given_length, found.lead, given.spearman)
    for kind, each, true in zip(KINDS, results, truth, strict=True):
        yield kind, each.low, each.high, true


NAMES: Final = ("Items", "Annotators", "Leniency", "True rho")
CELLS: Final = (
    *(Annotated(30, annotators, leniency, 0.8) for leniency in _TASTE for annotators in (6, 10, 20, 40)),
    *(Annotated(30, annotators, 0.18, 0.0) for annotators in (10, 20, 40)),
    *(Annotated(dialogues, 10, 0.18, 0.8) for dialogues in (12, 100)),
    *(Systems(bots, 10, 0.18, 0.8) for bots in (6, 11, 20)),
    *(Systems(5, 10, 0.18, strength, apart=True) for strength in (0.8, 0.0)),
    *(
        Systems(11, annotators, 0.18, strength, apart=True)
        for annotators, strength in ((10, 0.8), (40, 0.8), (10, 0.0))
    ),
)
