"""Intervals and tests of shares of clustered observations: Wilson's, for the effective number of observations.

The interval and the p-value of a share agree: p is below 5 % exactly if the interval of 95 % excludes the tested value.
If all observations are equal, they have no variance of their own. If design effects were pooled, the expected design
effect of the family is used in this case. Otherwise each cluster counts as one observation: the interval is Clopper &
Pearson's (1934) for this number of clusters, and the p-value is that of the test that flips the sign of each cluster.
"""

from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.statistics.distributions import student_tails
from spotthebot.statistics.uncertainty import ClusteredVariance

METHOD: Final = "Wilson's interval for the effective number of observations"
_CERTAIN: Final = 1e-12


def share_bounds(
    share: FloatArray, n: FloatArray | IntArray, variance: ClusteredVariance, confidence_level: float
) -> tuple[FloatArray, FloatArray]:
    """Return bounds of shares (m,) of n (m,) observations with the given variance; NaN if the variance is unknown.

    Raises `SettingOutOfRange`.

    >>> from spotthebot.statistics.uncertainty import Clusters
    >>> one = np.array([1.0])
    >>> known = ClusteredVariance(0 * one, 59 * one, np.array([60]), np.array([60]), Clusters.BOTH)
    >>> low, high = share_bounds(one, np.array([60]), known, 0.95)  # 60 of 60 clusters: 0.025 ** (1 / 60)
    >>> low.round(4).tolist(), high.tolist()
    ([0.9404], [1.0])
    """
    require_confidence_level(confidence_level)
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
    """Test shares (m,) against even odds. Return Student's t and two-sided p-values, which agree with `share_bounds`.

    If all clusters agree, t is NaN. If the variance is unknown, both are NaN.

    >>> from spotthebot.statistics.uncertainty import Clusters
    >>> one = np.array([1.0])
    >>> known = ClusteredVariance(0 * one, 3 * one, np.array([60]), np.array([4]), Clusters.BOTH)
    >>> [found.tolist() for found in share_tests(one, np.array([60]), known)]  # all 60 won, 4 annotators: 2 of 2⁴ flips
    [[nan], [0.125]]
    """
    agreed = _unanimous(share, variance)
    statistic = np.where(agreed, np.nan, 2 * (share - 0.5) * np.sqrt(_effective(share, n, variance)))
    flips = np.minimum(1.0, 2 * 0.5 ** np.maximum(variance.n_clusters, 1).astype(np.float64))
    p_values: FloatArray = np.where(agreed, flips, 2 * student_tails(np.abs(statistic), variance.degrees))
    return statistic, p_values


def _effective(share: FloatArray, n: FloatArray | IntArray, variance: ClusteredVariance) -> FloatArray:
    """Return the effective number of independent observations of a share, at most n (Korn & Graubard 1998)."""
    spread = share * (1 - share)
    expected: FloatArray | float = np.inf if variance.pooled is None else n / variance.pooled.design_effect
    worth = np.where(_is_pooled(share, variance), expected, np.inf)
    np.divide(spread, variance.variance, out=worth, where=(spread > _CERTAIN) & (variance.variance > 0))
    effective: FloatArray = np.minimum(np.where(np.isnan(variance.variance), np.nan, worth), np.maximum(n, 1))
    return effective


def _unanimous(share: FloatArray, variance: ClusteredVariance) -> BoolArray:
    certain = ((share < _CERTAIN) | (share > 1 - _CERTAIN)) & ~np.isnan(variance.variance)
    return certain & ~_is_pooled(share, variance)


def _is_pooled(share: FloatArray, variance: ClusteredVariance) -> BoolArray:
    if variance.pooled is None:
        return np.zeros(share.shape, dtype=np.bool_)
    return ~np.isnan(variance.pooled.design_effect)
