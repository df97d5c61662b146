"""From which number of conversations on random samples of them give the same ranking (Figure 3 of Spot The Bot)."""

import math
from collections.abc import Iterable
from typing import Final

import scipy

STABLE: Final = 0.95
"""The rate at which the paper calls a ranking stable."""


def stable_sizes(rates: Iterable[tuple[int, float]]) -> tuple[int | None, int | None]:
    """Return the first size whose rate is at least 95 %, and the size from which on each rate is at least 95 %.

    `rates` has a size and its rate, in any order.

    >>> stable_sizes([(3, 0.5), (4, 0.96), (5, 0.9), (6, 0.99)])
    (4, 6)
    """
    known = [*rates]
    reached = [size for size, rate in known if rate >= STABLE]
    last_unstable = max((size for size, rate in known if rate < STABLE), default=-1)
    return min(reached, default=None), min((size for size in reached if size > last_unstable), default=None)


def wilson_bounds(successes: int, n: int, confidence_level: float) -> tuple[float, float]:
    """Return Wilson's bounds of a share of n independent observations; n is at least 1."""
    quantile = float(scipy.special.ndtri((1 + confidence_level) / 2))
    share, weight = successes / n, quantile**2 / n
    centre = (share + weight / 2) / (1 + weight)
    reach = quantile / (1 + weight) * math.sqrt(share * (1 - share) / n + weight / 4 / n)
    return 0.0 if successes == 0 else centre - reach, 1.0 if successes == n else centre + reach
