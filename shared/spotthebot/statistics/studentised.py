"""Quantiles of a mean for skewed clusters, by the studentised bootstrap (Davison & Hinkley 1997, section 5.2.1)."""

from typing import Final

import numpy as np

from spotthebot.statistics.arrays import FloatArray

_COUNTS_AT_ONCE: Final = 4_000_000
_ROUNDING: Final = 1e-9
"""A standard error below this share of the whole sample's counts as 0."""


def studentised_quantiles(
    totals: FloatArray, counts: FloatArray, upper: float, *, n_resamples: int, chance: np.random.Generator
) -> tuple[float, float]:
    """Return the quantiles 1 - `upper` and `upper` of (mean - true mean) / standard error, in resamples of clusters.

    `totals` has the sum of the values of each cluster, and `counts` their number. The mean is a ratio of two sums, and
    each resample has its own standard error (Cochran 1977, Eq. 6.13). The lower bound of the mean takes the upper
    quantile. Values have to differ between clusters.

    >>> low, high = studentised_quantiles(
    ...     np.array([0.0, 0, 0, 0, 9]), np.ones(5), 0.975, n_resamples=1000, chance=np.random.default_rng(0)
    ... )
    >>> low < -high  # a long upper tail: the mean may be far too low
    True
    """
    n, mean = len(totals), float(totals.sum() / counts.sum())
    # Relative to the mean, so that the squares of an error do not cancel.
    apart = totals - mean * counts
    error = np.sqrt(n / max(n - 1, 1) * np.sum(apart**2)) / counts.sum()
    columns = np.column_stack([apart, counts, apart**2, apart * counts, counts**2])
    parts = []
    step = max(1, _COUNTS_AT_ONCE // n)
    for start in range(0, n_resamples, step):
        size = min(step, n_resamples - start)
        parts.append(chance.multinomial(n, np.full(n, 1 / n), size=size).astype(np.float64) @ columns)
    total, count, square, product, counted = np.concatenate(parts).T
    shift = total / count
    spread = np.maximum(square - 2 * shift * product + shift**2 * counted, 0.0)
    errors = np.sqrt(n / max(n - 1, 1) * spread) / count
    varied = errors > _ROUNDING * error
    low, high = np.quantile(shift[varied] / errors[varied], [1 - upper, upper])
    return float(low), float(high)
