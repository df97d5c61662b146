"""Mean scores of bots, with intervals and ranges of ranks by a bootstrap over dialogues."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import scipy

from spotthebot.fed.stats.jackknife import FloatArray, IntArray
from spotthebot.statistics.errors import ColumnsDiffer, LevelOutOfRange

_COUNTS_AT_ONCE: Final = 4_000_000


@dataclass(frozen=True)
class BotScore:
    """A bot's mean score of n contexts in so many dialogues; bounds are None with fewer than two dialogues.

    `rank_low` to `rank_high` are the ranks, 1 the best, that the data allow at the confidence level.
    """

    bot: str
    estimate: float
    low: float | None
    high: float | None
    rank_low: int
    rank_high: int
    n: int
    n_dialogues: int


@dataclass(frozen=True)
class BotScores:
    """All bots, best first, and how their intervals were made."""

    bots: tuple[BotScore, ...]
    confidence_level: float
    n_resamples: int
    seed: int
    method: str


def score_bots(
    scores: npt.ArrayLike,
    bots: Sequence[str],
    dialogue: npt.ArrayLike,
    *,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
) -> BotScores:
    """Average the scores (n,) of each bot's contexts and bound the means and ranks.

    Dialogues are drawn with replacement, each bot's own; a dialogue of two bots counts for each of them alone. Bounds
    are those of the percentile bootstrap at the levels that Hesterberg 2015 (The American Statistician 69) gives for
    few dialogues. Bots of equal score share the better rank; one with a single dialogue may have any, and counts for
    others by its score. Raises ColumnsDiffer, LevelOutOfRange.

    >>> found = score_bots([3.0, 4.0, 1.0, 2.0], ["a", "a", "b", "b"], [0, 1, 2, 3])
    >>> [(bot.bot, bot.estimate, bot.rank_low) for bot in found.bots]
    [('a', 3.5, 1), ('b', 1.5, 2)]
    """
    values, of = np.asarray(scores, dtype=np.float64), np.asarray(dialogue)
    if values.ndim != 1 or values.shape != of.shape or len(bots) != len(values):
        raise ColumnsDiffer(first=values.shape, second=of.shape)
    if not 0 < confidence_level < 1:
        raise LevelOutOfRange(value=confidence_level)
    names, code = np.unique(np.asarray(bots, dtype=str), return_inverse=True)
    chance = np.random.default_rng(seed)
    sums = [_sums_by_dialogue(values[code == at], of[code == at]) for at in range(len(names))]
    means = np.array([float(each[:, 0].sum() / each[:, 1].sum()) for each in sums])
    replicates = np.array([_replicates(each, n_resamples, chance) for each in sums]).reshape(-1, n_resamples)
    ranks = 1 + np.array([np.sum(replicates > own, axis=0) for own in replicates]).reshape(-1, n_resamples)
    found = []
    for at, name in enumerate(names):
        n_dialogues = len(sums[at])
        tail = _tail(n_dialogues, confidence_level)
        low, high = (float(each) for each in np.quantile(replicates[at], [tail, 1 - tail]))
        best, worst = np.quantile(ranks[at], [tail, 1 - tail], method="inverted_cdf")
        single = n_dialogues < 2
        found.append(
            BotScore(
                bot=str(name),
                estimate=float(means[at]),
                low=None if single else low,
                high=None if single else high,
                rank_low=1 if single else int(best),
                rank_high=len(names) if single else int(worst),
                n=int(sums[at][:, 1].sum()),
                n_dialogues=n_dialogues,
            )
        )
    order = sorted(found, key=lambda bot: (-bot.estimate, bot.bot))
    method = "bootstrap over each bot's dialogues, percentiles expanded for few of them"
    return BotScores(tuple(order), confidence_level, n_resamples, seed, method)


def _sums_by_dialogue(values: FloatArray, dialogue: npt.NDArray[np.generic]) -> FloatArray:
    """Return the sum and the number of a bot's scores in each of its dialogues: (dialogues, 2)."""
    _, code = np.unique(dialogue, return_inverse=True)
    of: IntArray = code.ravel()
    return np.column_stack([np.bincount(of, weights=values), np.bincount(of).astype(np.float64)])


def _replicates(sums: FloatArray, n_resamples: int, chance: np.random.Generator) -> FloatArray:
    n = len(sums)
    means = np.empty(n_resamples)
    step = max(1, _COUNTS_AT_ONCE // n)
    for start in range(0, n_resamples, step):
        size = min(step, n_resamples - start)
        drawn = chance.multinomial(n, np.full(n, 1 / n), size=size).astype(np.float64) @ sums
        means[start : start + size] = drawn[:, 0] / drawn[:, 1]
    return means


def _tail(n_dialogues: int, confidence_level: float) -> float:
    """Return the share to cut off on either side: less with few dialogues, as Student's t reaches further."""
    if n_dialogues < 2:
        return 0.0
    reach = float(scipy.stats.t.ppf((1 + confidence_level) / 2, n_dialogues - 1))
    return float(scipy.stats.norm.cdf(-reach * math.sqrt(n_dialogues / (n_dialogues - 1))))
