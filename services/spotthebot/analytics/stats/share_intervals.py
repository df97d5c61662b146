"""Intervals and tests of shares of clustered observations: Wilson's, with the effective number of observations.

A share's interval and its p-value are one statement: p is below 5 % exactly where the interval of 95 % leaves the value
out. Where all observations agree no variance can be seen. Each cluster then counts as one observation: the interval is
Clopper & Pearson's (1934) of as many clusters, and p is that of flipping the sign of every cluster.
"""

from typing import Final

import numpy as np
from scipy import stats

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.clustered_variance import ClusteredVariance

METHOD: Final = "Wilson's interval for the effective number of observations"
_CERTAIN: Final = 1e-12


def replicate_variance(replicates: FloatArray) -> FloatArray:
    """Sample variance along the first axis, NaN replicates left out; 0 where fewer than two are defined."""
    known = ~np.isnan(replicates)
    n = known.sum(axis=0)
    mean = np.where(known, replicates, 0.0).sum(axis=0) / np.maximum(n, 1)
    squares = np.where(known, (replicates - mean) ** 2, 0.0).sum(axis=0)
    variance: FloatArray = squares / np.maximum(n - 1, 1)
    return variance


def two_way_variance(conversation: FloatArray, annotator: FloatArray, game: FloatArray) -> FloatArray:
    """Variance under two kinds of clusters: V_conversation + V_annotator - V_game (Cameron, Gelbach & Miller 2011).

    The first two are replicates along the first axis, of which NaN ones are left out; `game` is the variance of
    independent games. The sum (their Eq. 2.11) can fall short of a part of it, and is never taken below the largest.

    >>> two_way_variance(np.array([[0.0], [2.0]]), np.array([[0.0], [4.0]]), np.array([1.5])).tolist()  # 2 + 8 - 1.5
    [8.5]
    """
    by_conversation, by_annotator = replicate_variance(conversation), replicate_variance(annotator)
    largest: FloatArray = np.maximum.reduce(
        [by_conversation, by_annotator, game, by_conversation + by_annotator - game]
    )
    return largest


def effective_wilson_interval(
    share: FloatArray, variance: FloatArray, n: FloatArray, *, confidence_level: float, degrees: int
) -> tuple[FloatArray, FloatArray]:
    """Wilson's interval for shares whose estimate has this variance, as for clustered samples.

    The effective sample size is share * (1 - share) / variance, at most `n`, the number of observations (Korn &
    Graubard 1998; Dean & Pagano 2015, "modified Wilson"); where all observations agree the variance says nothing and
    `n` stands. The quantile is Student's with `degrees`, the number of clusters less one. All arrays have one shape;
    NaN where `share` is.

    >>> low, high = effective_wilson_interval(
    ...     np.array([0.3]), np.array([0.3 * 0.7 / 50]), np.array([50.0]), confidence_level=0.95, degrees=10**9
    ... )
    >>> low.round(4).tolist(), high.round(4).tolist()  # Wilson's of 15 out of 50
    ([0.191], [0.4375])
    """
    spread = share * (1 - share)
    effective = np.divide(spread, variance, out=np.array(n, dtype=np.float64), where=(variance > 0) & (spread > 0))
    effective = np.minimum(effective, n)
    quantile = float(stats.t.ppf((1 + confidence_level) / 2, max(1, degrees)))
    weight = quantile**2 / effective
    centre = (share + weight / 2) / (1 + weight)
    reach = quantile * np.sqrt(spread / effective + weight / 4 / effective) / (1 + weight)
    return np.maximum(0.0, centre - reach), np.minimum(1.0, centre + reach)


def share_bounds(
    share: FloatArray, n: FloatArray | IntArray, variance: ClusteredVariance, confidence_level: float
) -> tuple[FloatArray, FloatArray]:
    """Bound shares (m,) of n (m,) observations with this variance; NaN where it is not known.

    >>> from spotthebot.analytics.stats.clustered_variance import Clusters
    >>> one = np.array([1.0])
    >>> known = ClusteredVariance(0 * one, 59 * one, np.array([60]), np.array([60]), Clusters.BOTH)
    >>> low, high = share_bounds(one, np.array([60]), known, 0.95)  # 60 of 60 clusters: 0.025 ** (1 / 60)
    >>> low.round(4).tolist(), high.tolist()
    ([0.9404], [1.0])
    """
    quantile = variance.quantiles(confidence_level)
    weight = quantile**2 / _effective(share, n, variance)
    centre = (share + weight / 2) / (1 + weight)
    reach = np.sqrt(weight * (share * (1 - share) + weight / 4)) / (1 + weight)
    low, high = np.maximum(0.0, centre - reach), np.minimum(1.0, centre + reach)
    agreed = _unanimous(share, variance)
    least = ((1 - confidence_level) / 2) ** (1 / np.maximum(variance.n_clusters, 1))
    low = np.where(agreed, np.where(share > 0.5, least, 0.0), low)
    high = np.where(agreed, np.where(share > 0.5, 1.0, 1 - least), high)
    return low, high


def share_tests(
    share: FloatArray, n: FloatArray | IntArray, variance: ClusteredVariance
) -> tuple[FloatArray, FloatArray]:
    """Test shares (m,) against even odds: Student's t and two-sided p-values, which agree with `share_bounds`.

    Where all clusters agree there is no t; both are NaN where the variance is not known.

    >>> from spotthebot.analytics.stats.clustered_variance import Clusters
    >>> one = np.array([1.0])
    >>> known = ClusteredVariance(0 * one, 3 * one, np.array([60]), np.array([4]), Clusters.BOTH)
    >>> [found.tolist() for found in share_tests(one, np.array([60]), known)]  # all 60 won, 4 annotators: 2 of 2⁴ flips
    [[nan], [0.125]]
    """
    agreed = _unanimous(share, variance)
    statistic = np.where(agreed, np.nan, 2 * (share - 0.5) * np.sqrt(_effective(share, n, variance)))
    flips = np.minimum(1.0, 2 * 0.5 ** np.maximum(variance.n_clusters, 1).astype(np.float64))
    p_values: FloatArray = np.where(agreed, flips, 2 * stats.t.sf(np.abs(statistic), variance.degrees))
    return statistic, p_values


def _effective(share: FloatArray, n: FloatArray | IntArray, variance: ClusteredVariance) -> FloatArray:
    """Return as how many independent observations a share is known, n at most (Korn & Graubard 1998)."""
    spread = share * (1 - share)
    worth = np.divide(
        spread, variance.variance, out=np.full(share.shape, np.inf), where=(spread > 0) & (variance.variance > 0)
    )
    effective: FloatArray = np.minimum(np.where(np.isnan(variance.variance), np.nan, worth), np.maximum(n, 1))
    return effective


def _unanimous(share: FloatArray, variance: ClusteredVariance) -> BoolArray:
    return ((share < _CERTAIN) | (share > 1 - _CERTAIN)) & ~np.isnan(variance.variance)
