"""Means of clustered observations with Student's interval, differences of such means, and the smallest effect found.

An effect is found if its two-sided test at the level 1 - `confidence_level` has the power `power`.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_confidence_level, require_level
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.clustered_variance import Observations, clustered_parts, shares_of
from spotthebot.statistics.distributions import student_quantiles
from spotthebot.statistics.uncertainty import ClusteredVariance, Clusters, Uncertainty

METHOD: Final = "Student's t with clustered variance"
POWER: Final = 0.8
_ALIKE: Final = "all values are the same, so the data do not show how others would differ"
_ROUNDING: Final = 1e-12


@dataclass(frozen=True)
class ClusteredMean:
    """A mean of `n` observations, or a difference of two such means, with its bounds.

    `smallest_detectable` is the smallest true value that the test against 0 finds with the probability `power`. Without
    an interval it is None, and `reason` says why.
    """

    estimate: float | None
    low: float | None
    high: float | None
    n: int
    smallest_detectable: float | None
    power: float
    confidence_level: float
    method: str
    uncertainty: Uncertainty
    reason: str | None


def clustered_means(
    observations: Observations,
    group: IntArray,
    value: FloatArray,
    n_groups: int,
    *,
    clusters: Clusters = Clusters.BOTH,
    confidence_level: float = 0.95,
    power: float = POWER,
) -> tuple[ClusteredMean, ...]:
    """Return the mean of the values (n,) of each of `n_groups` groups (n,). Raises `SettingOutOfRange`.

    >>> who = Observations(np.array([0, 1, 2, 3]), np.arange(4))
    >>> (mean,) = clustered_means(who, np.zeros(4, int), np.array([1.0, 2, 3, 4]), 1, clusters=Clusters.NONE)
    >>> mean.estimate, round(mean.low, 3)  # 2.5 - 3.182 * sqrt(5 / 3 / 4)
    (2.5, 0.446)
    """
    _require(confidence_level, power)
    mean, n, influence = shares_of(group, value, n_groups)
    variance = clustered_parts(observations, influence, clusters).variances()
    scale = _largest(group, value, n_groups)
    return tuple(
        _mean_of(mean, n, variance, at, scale[at], confidence_level=confidence_level, power=power)
        for at in range(n_groups)
    )


def difference_of_means(
    observations: Observations,
    group: IntArray,
    value: FloatArray,
    *,
    clusters: Clusters = Clusters.BOTH,
    confidence_level: float = 0.95,
    power: float = POWER,
) -> ClusteredMean:
    """Return the mean of group 1 minus the mean of group 0; `group` (n,) has these two codes.

    Raises `SettingOutOfRange`.
    """
    _require(confidence_level, power)
    means, n, influence = shares_of(group, value, 2)
    parts = clustered_parts(observations, influence, clusters)
    variance = parts.differences(np.array([1]), np.array([0]))
    difference = np.array([means[1] - means[0]])
    scale = float(_largest(group, value, 2).max())
    found = _mean_of(
        difference, n.sum(keepdims=True), variance, 0, scale, confidence_level=confidence_level, power=power
    )
    return found if n.all() else replace(found, reason="one of the two groups has no values")


def _require(confidence_level: float, power: float) -> None:
    require_confidence_level(confidence_level)
    require_level("power", power)


def _largest(group: IntArray, value: FloatArray, n_groups: int) -> FloatArray:
    found = np.zeros(n_groups)
    np.maximum.at(found, group, np.abs(value))
    return found


def _mean_of(
    mean: FloatArray,
    n: IntArray,
    variance: ClusteredVariance,
    at: int,
    scale: float,
    *,
    confidence_level: float,
    power: float,
) -> ClusteredMean:
    uncertainty = variance.uncertainty(at)
    error, degrees = uncertainty.standard_error, uncertainty.degrees_of_freedom
    if error is not None and error <= _ROUNDING * scale:
        uncertainty = replace(uncertainty, standard_error=None, degrees_of_freedom=None, reason=_ALIKE)
        error = None
    low = high = smallest = None
    if error is not None and degrees is not None:
        reach = float(student_quantiles((1 + confidence_level) / 2, degrees)) * error
        low, high = float(mean[at]) - reach, float(mean[at]) + reach
        smallest = error * _lead(degrees, confidence_level, power)
    return ClusteredMean(
        estimate=defined(mean[at]),
        low=low,
        high=high,
        n=int(n[at]),
        smallest_detectable=smallest,
        power=power,
        confidence_level=confidence_level,
        method=f"{METHOD}, {uncertainty.words}",
        uncertainty=uncertainty,
        reason=uncertainty.reason,
    )


def _lead(degrees: float, confidence_level: float, power: float) -> float:
    """Return the true difference, in standard errors, that the test of this level finds with this power.

    The chance of a finding in the wrong direction is left out: at a power of .8 it is below one in 100,000.
    """
    critical = student_quantiles((1 + confidence_level) / 2, degrees)
    return max(0.0, float(scipy.special.nctdtrinc(degrees, 1 - power, critical)))
