"""How often nominal 95 % intervals of FED's statistics hold the truth, where turns of a dialogue are alike.

`python -m benchmarks.fed.coverage [--simulations N]`: dialogues are drawn whose truth is known, and the shares are
counted: 10, 30 and 125 dialogues with one or three rated turns, weak to strong correlation of scores and ratings; bots
with 8 and 30 dialogues. Scores fall with the inverse of length, ratings rise with it, and are the mean of five people's
on a scale of 0 to 2, so that they tie.
"""

import argparse
import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy

from benchmarks.tables import markdown_table
from spotthebot.fed.stats.bot_scores import score_bots
from spotthebot.fed.stats.correlation import correlation, lead_over_length, partial_rank_correlation

FloatArray: TypeAlias = npt.NDArray[np.float64]
Held: TypeAlias = tuple[str, float | None, float | None, float]
"""The name of an interval, its bounds, and the truth."""

_ALIKE: Final = 0.5
"""The share of the variance that the turns of a dialogue have in common."""
_TRUTH: Final = 200_000
_RESAMPLES: Final = 300
_MEANS: Final = np.array([0.0, 0.1, 0.2, 0.4, 0.8])
"""True scores of five bots."""
RATED: Final = "Spearman's rho"
BOOTSTRAPPED: Final = "the same, percentile bootstrap over dialogues"
GIVEN: Final = "rho given length"
LEAD: Final = "rho less that of length"
MEAN: Final = "a bot's mean score"
RANK: Final = "a bot's ranks"


@dataclass(frozen=True)
class Ratings:
    """Rated dialogues: `strength` is how much of the quality that people rate is in the scores."""

    dialogues: int
    turns: int
    strength: float

    @property
    def columns(self) -> tuple[str, str, str]:
        return str(self.dialogues), str(self.turns), f"{self.truth()[0]:.2f}"

    def draw(self, chance: np.random.Generator, dialogues: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return scores, mean ratings and lengths, (dialogues, turns) each."""
        quality, longer, noise = (_alike(chance, (dialogues, self.turns)) for _ in range(3))
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


@dataclass(frozen=True)
class Bots:
    """Five bots of known means, whose scores are skewed."""

    dialogues: int
    turns: int

    @property
    def columns(self) -> tuple[str, str, str]:
        return f"{self.dialogues} a bot", str(self.turns), "-"

    def truth(self) -> tuple[float, ...]:
        return tuple(_MEANS)

    def intervals(self, chance: np.random.Generator, truth: tuple[float, ...]) -> Iterator[Held]:
        skewed = np.exp(0.7 * _alike(chance, (len(_MEANS) * self.dialogues, self.turns))) - np.exp(0.7**2 / 2)
        of = np.repeat(np.arange(len(_MEANS)), self.dialogues * self.turns)
        dialogue = np.repeat(np.arange(len(_MEANS) * self.dialogues), self.turns)
        found = score_bots(skewed.ravel() + _MEANS[of], [str(at) for at in of], dialogue, n_resamples=1000)
        for bot in found.bots:
            yield MEAN, bot.low, bot.high, truth[int(bot.bot)]
            yield RANK, bot.rank_low, bot.rank_high, len(_MEANS) - int(bot.bot)


Cell: TypeAlias = Ratings | Bots
CELLS: Final[tuple[Cell, ...]] = (
    *(Ratings(n, turns, strength) for n in (10, 30, 125) for turns in (1, 3) for strength in (0.0, 0.3, 1.0)),
    *(Bots(n, 3) for n in (8, 30)),
)


def _alike(chance: np.random.Generator, shape: tuple[int, int]) -> FloatArray:
    """Draw standard normal values, those of a row as alike as the turns of a dialogue."""
    shared = chance.normal(size=(shape[0], 1))
    drawn: FloatArray = np.sqrt(_ALIKE) * shared + np.sqrt(1 - _ALIKE) * chance.normal(size=shape)
    return drawn


def _percentiles(scores: FloatArray, ratings: FloatArray, chance: np.random.Generator) -> tuple[float, float]:
    """Return the bounds of a plain bootstrap, the rival: whole dialogues are drawn with replacement."""
    drawn = chance.integers(len(scores), size=(_RESAMPLES, len(scores)))
    ranks = [scipy.stats.rankdata(each[drawn].reshape(_RESAMPLES, -1), axis=1) for each in (scores, ratings)]
    x, y = (each - each.mean(axis=1, keepdims=True) for each in ranks)
    rho = np.sum(x * y, axis=1) / np.sqrt(np.sum(x * x, axis=1) * np.sum(y * y, axis=1))
    low, high = np.nanquantile(rho, [0.025, 0.975])
    return float(low), float(high)


def _count(task: tuple[Cell, int]) -> dict[str, float]:
    cell, simulations = task
    truth = cell.truth()
    held, printed = Counter[str](), Counter[str]()
    for seed in range(simulations):
        for kind, low, high, true in cell.intervals(np.random.default_rng([seed, 2]), truth):
            if low is not None and high is not None:
                printed[kind] += 1
                held[kind] += low <= true <= high
    return {kind: held[kind] / printed[kind] for kind in printed}


def main() -> None:
    """Print the shares of each cell."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fed.coverage")
    parser.add_argument("--simulations", type=int, default=400, help="samples a cell")
    arguments = parser.parse_args()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(_count, [(cell, arguments.simulations) for cell in CELLS]))
    for kinds, own in (((RATED, BOOTSTRAPPED, GIVEN, LEAD), Ratings), ((MEAN, RANK), Bots)):
        rows = [
            [*cell.columns, *(f"{shares[kind]:.1%}" for kind in kinds)]
            for cell, shares in zip(CELLS, found, strict=True)
            if isinstance(cell, own)
        ]
        print(markdown_table(("Dialogues", "Turns", "True rho", *kinds), rows))  # noqa: T201 - the table is the output


if __name__ == "__main__":
    main()
