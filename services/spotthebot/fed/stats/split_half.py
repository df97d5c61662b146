"""How well people agree with each other: the ceiling for any score that predicts their ratings."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import scipy

from spotthebot.statistics.arrays import FloatArray
from spotthebot.statistics.columns import read_numbers, unit_of
from spotthebot.statistics.errors import require_splits
from spotthebot.statistics.randomness import generator_of

_MIN_RATINGS: Final = 2
_MIN_ITEMS: Final = 3
_DECIMALS: Final = 12
MAX_SPLITS: Final = 100_000


@dataclass(frozen=True)
class SplitHalf:
    """How well two random halves of each item's raters agree: Spearman's rho of their mean ratings, over many splits.

    `all_raters` is the rho that two groups as large as all raters would reach (Spearman & Brown 1910). It is None with
    a `reason` if the halves contradict each other. Items with fewer than two ratings are left out, and splits in which
    the means of a half do not vary. `n_splits` counts the other splits. Both rhos are None with a `reason` if there are
    fewer than three items or no usable split.
    """

    estimate: float | None
    all_raters: float | None
    n: int
    n_splits: int
    seed: int
    method: str
    reason: str | None


def split_half(ratings: npt.ArrayLike, *, n_splits: int = 200, seed: int = 0) -> SplitHalf:
    """Split the ratings (items, raters) of each item at random into halves, and return the halves' agreement.

    A missing rating is NaN. Sato et al. 2022 (footnote 4) use this agreement as the ceiling. All raters are treated
    alike, since published ratings seldom name them. If an item has an odd number of raters, a random half gets one
    rater more.

    >>> split_half([[1, 1], [2, 2], [4, 4]], n_splits=10).estimate
    1.0
    """
    require_splits(n_splits, MAX_SPLITS)
    chance = generator_of(seed)
    table = read_numbers(ratings, "ratings")
    table = table.reshape(len(table), -1) if table.size else np.zeros((0, 0))
    table = np.where(np.isfinite(table), table / unit_of(table), np.nan)
    table = table[np.sum(~np.isnan(table), axis=1) >= _MIN_RATINGS]
    n, method = len(table), "Spearman of random halves of the raters of each item"
    if n < _MIN_ITEMS:
        return SplitHalf(None, None, n, n_splits, seed, method, "fewer than three items with two ratings")
    found = np.array([_split(table, chance) for _ in range(n_splits)])
    found = found[~np.isnan(found)]
    if not len(found):
        return SplitHalf(None, None, n, 0, seed, method, "a half of the ratings does not vary")
    estimate = float(found.mean())
    if estimate < 0:
        return SplitHalf(estimate, None, n, len(found), seed, method, "the halves of the ratings contradict each other")
    return SplitHalf(estimate, 2 * estimate / (1 + estimate), n, len(found), seed, method, None)


def _split(table: FloatArray, chance: np.random.Generator) -> float:
    counts = np.sum(~np.isnan(table), axis=1)
    # Ratings in random order, missing ones last.
    order = np.argsort(np.where(np.isnan(table), 2.0, chance.random(table.shape)), axis=1)
    shuffled = np.take_along_axis(table, order, axis=1)
    half = counts // 2 + (counts % 2) * chance.integers(2, size=len(table))
    first = np.arange(table.shape[1]) < half[:, None]
    # Equal means stay tied in any order of summation.
    means = [np.nanmean(np.where(mask, shuffled, np.nan), axis=1).round(_DECIMALS) for mask in (first, ~first)]
    if any(np.ptp(mean) == 0 for mean in means):
        return float("nan")
    return float(scipy.stats.spearmanr(*means).statistic)
