"""The cluster bootstrap: whole conversations (or annotators) are drawn with replacement, as weighted sums.

A statistic that is a function of sums over rows needs no resampled rows: each cluster's sums are taken once, and a
replicate is its draw counts times those sums. So a thousand replicates are one matrix product.
"""

from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.errors import SettingOutOfRange
from spotthebot.statistics.levels import EVERY_LEVEL, MAX_LEVEL, MIN_LEVEL
from spotthebot.statistics.randomness import Seed, generator_of
from spotthebot.statistics.whole_numbers import is_whole

_DRAWS_AT_ONCE: Final = 4_000_000
MAX_RESAMPLES: Final = 1_000_000


def resampled_totals(totals: FloatArray, n_resamples: int, seed: Seed) -> FloatArray:
    """Total over as many clusters as there are, drawn with replacement: (n_resamples, d) from (n_clusters, d).

    The same seed, number of clusters and number of resamples give the same draws.

    >>> totals = np.array([[1.0, 10.0], [1.0, 20.0]])
    >>> resampled_totals(totals, 500, seed=0)[:, 0].tolist() == [2.0] * 500  # two clusters, each with a 1
    True
    """
    require_resamples(n_resamples)
    n_clusters, width = totals.shape
    if n_clusters == 0:
        return np.zeros((n_resamples, width))
    generator = generator_of(seed)
    replicates = np.empty((n_resamples, width))
    step = max(1, _DRAWS_AT_ONCE // n_clusters)
    for start in range(0, n_resamples, step):
        stop = min(start + step, n_resamples)
        drawn = generator.integers(n_clusters, size=(stop - start, n_clusters))
        drawn += np.arange(stop - start)[:, None] * n_clusters
        weights = np.bincount(drawn.ravel(), minlength=(stop - start) * n_clusters)
        replicates[start:stop] = weights.reshape(-1, n_clusters).astype(np.float64) @ totals
    return replicates


def require_confidence_level(confidence_level: float) -> None:
    """Raise `SettingOutOfRange` for a level that leaves no room for an interval or for what it leaves out."""
    require_level("confidence_level", confidence_level)


def require_level(setting: str, value: float) -> None:
    """Raise `SettingOutOfRange` for a confidence or significance level, or a power, so near to 0 or 1 as to be it."""
    if not MIN_LEVEL <= value <= MAX_LEVEL:
        raise SettingOutOfRange(setting=setting, allowed=EVERY_LEVEL, value=value)


def require_resamples(n_resamples: int, setting: str = "n_resamples") -> None:
    """Raise `SettingOutOfRange` unless there is at least one replicate, and no more than memory holds."""
    if not is_whole(n_resamples, 1, MAX_RESAMPLES):
        allowed = f"a whole number from 1 to {MAX_RESAMPLES:,}"
        raise SettingOutOfRange(setting=setting, allowed=allowed, value=n_resamples)


def defined(value: float) -> float | None:
    """Turn an array's NaN into the None of a record."""
    return None if np.isnan(value) else float(value)
