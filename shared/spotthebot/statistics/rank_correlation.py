"""Rank correlations, with exact p-values if few systems are compared: Spearman's rho, and p of Kendall's tau.

The exact p-values count orders by sets of ranks. With ties this takes a tenth of a second, while the orders of eleven
systems are forty million.
"""

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
import numpy.typing as npt
import scipy

from spotthebot.statistics.columns import read_numbers
from spotthebot.statistics.distributions import student_quantiles
from spotthebot.statistics.errors import ColumnsDiffer, require_confidence_level

MAX_EXACT: Final = 12
"""The most pairs for which all orders are counted, by the 2 ** 12 sets of ranks, in a tenth of a second."""


MIN_PAIRS: Final = 5
"""With fewer pairs, an interval that holds is nearly the whole scale."""


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's rho of n pairs. It is None with a `reason` if a side does not vary, or with fewer than three pairs.

    With fewer than MIN_PAIRS pairs there are no bounds, with a `reason`.
    """

    estimate: float | None
    low: float | None
    high: float | None
    p_value: float | None
    n: int
    method: str
    reason: str | None


def rank_correlation(first: npt.ArrayLike, second: npt.ArrayLike, *, confidence_level: float = 0.95) -> RankCorrelation:
    """Return the rank correlation of two columns, with a two-sided p-value. Equal values share their mean rank.

    Pairs with a missing value (NaN, None) are left out. With up to 12 pairs the p-value is exact: the share of all
    orders whose correlation is at least as far from 0. Student's t would be far off with so few pairs. The
    bounds are for other pairs of the same population: Fisher's z with the variance of Bonett & Wright (2000), but over
    n - 2 instead of n - 3 and with Student's t of n - 2 degrees of freedom, which holds for few pairs too. Raises
    ColumnsDiffer, ColumnMalformed, LevelOutOfRange. `benchmarks/analytics/coverage` measures the coverage.

    >>> found = rank_correlation([1, 2, 3, 4, 5, 6], [2, 1, 3, 4, 6, 5])
    >>> round(found.estimate, 4), round(found.p_value, 4)  # 24 of 720 orders are as far from 0
    (0.8857, 0.0333)
    """
    require_confidence_level(confidence_level)
    x, y = read_numbers(first, "first"), read_numbers(second, "second")
    if x.shape != y.shape or x.ndim != 1:
        raise ColumnsDiffer(first=x.shape, second=y.shape)
    known = ~(np.isnan(x) | np.isnan(y))
    x, y = x[known], y[known]
    n = len(x)
    if n < 3 or np.all(x == x[0]) or np.all(y == y[0]):
        reason = "fewer than three pairs" if n < 3 else "one side does not vary"
        return RankCorrelation(None, None, None, None, n, "Spearman", reason)
    ranks_x, ranks_y = scipy.stats.rankdata(x), scipy.stats.rankdata(y)
    rho = float(np.corrcoef(ranks_x, ranks_y)[0, 1])
    low, high = _bounds(rho, n, confidence_level) if n >= MIN_PAIRS else (None, None)
    few = None if n >= MIN_PAIRS else f"an interval needs {MIN_PAIRS} pairs"
    if n > MAX_EXACT:
        p_value = float(scipy.stats.spearmanr(ranks_x, ranks_y).pvalue)
        return RankCorrelation(rho, low, high, p_value, n, "Spearman, Student's t", few)
    return RankCorrelation(rho, low, high, _exact_p(ranks_x, ranks_y), n, "Spearman, exact", few)


def _bounds(rho: float, n: int, confidence_level: float) -> tuple[float, float]:
    # Two equal orders have no finite z: they count as half a swap of neighbours away from it.
    at = min(max(rho, -1 + (half := 6 / (n * (n**2 - 1)))), 1 - half)
    reach = float(student_quantiles((1 + confidence_level) / 2, n - 2)) * math.sqrt((1 + at**2 / 2) / (n - 2))
    low, high = math.tanh(math.atanh(at) - reach), math.tanh(math.atanh(at) + reach)
    return (-1.0 if rho < at else low), (1.0 if rho > at else high)


def kendall_p_value(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> float:
    """Return the two-sided p-value of Kendall's tau of two columns without missing values, ties included.

    With up to 12 pairs it is exact: the share of all orders with at least as large a difference between concordant and
    discordant pairs. With more pairs it is scipy's.

    >>> round(kendall_p_value(np.arange(5.0), np.array([1.0, 2.0, 4.0, 3.0, 5.0])), 4)  # 10 of 120 orders
    0.0833
    """
    if len(x) > MAX_EXACT:
        return float(scipy.stats.kendalltau(x, y).pvalue)
    rank = scipy.stats.rankdata(x, method="dense")
    sign = np.sign(np.subtract.outer(y, y)).astype(np.int64)
    n, most = len(x), len(x) * (len(x) - 1) // 2
    # A layer holds for each set of y's, given to the lowest x's, how many orders have each difference, from -most on.
    layer: dict[tuple[int, ...], npt.NDArray[np.float64]] = {(): np.eye(1, 2 * most + 1, most)[0]}
    for tied in np.bincount(rank.astype(np.int64))[1:]:
        following: dict[tuple[int, ...], npt.NDArray[np.float64]] = {}
        for members, counts in layer.items():
            gains = sign[:, list(members)].sum(axis=1)
            for added in combinations([at for at in range(n) if at not in members], int(tied)):
                longer = tuple(sorted((*members, *added)))
                shifted = np.roll(counts, int(gains[list(added)].sum()))  # never beyond -most and most
                following[longer] = following.get(longer, 0.0) + shifted
        layer = following
    (counts,) = layer.values()
    observed = int((sign * np.sign(np.subtract.outer(x, x)).astype(np.int64)).sum()) // 2
    return float(counts[np.abs(np.arange(-most, most + 1)) >= abs(observed)].sum() / counts.sum())


def _exact_p(ranks_x: npt.NDArray[np.float64], ranks_y: npt.NDArray[np.float64]) -> float:
    """Return the share of all orders of one side whose sum of products is at least as far from the mean of these sums.

    All sums are integers, since twice a mean rank is an integer. After k values of one side, a layer holds for each set
    of k ranks of the other side (a bit each) how many orders of the set have each sum of products.
    """
    x, y = (_integers(ranks) for ranks in (ranks_x, ranks_y))
    n, size = len(x), int(np.sort(x) @ np.sort(y)) + 1
    layer = {0: np.eye(1, size)[0]}
    for given in x:
        following: dict[int, npt.NDArray[np.float64]] = {}
        for members, counts in layer.items():
            for last in range(n):
                if not members >> last & 1:
                    step = int(given * y[last])
                    longer = following.setdefault(members | 1 << last, np.zeros(size))
                    longer[step:] += counts[: size - step]
        layer = following
    (counts,) = layer.values()
    # n times a sum minus n times the mean of all sums.
    mean = int(x.sum()) * int(y.sum())
    distances = np.abs(n * np.arange(size) - mean)
    return float(counts[distances >= abs(n * int(x @ y) - mean)].sum() / counts.sum())


def _integers(ranks: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the smallest integers that are proportional to the ranks."""
    doubled = (2 * ranks).astype(np.int64)
    return doubled // int(np.gcd.reduce(doubled))
