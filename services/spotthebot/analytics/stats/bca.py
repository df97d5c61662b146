"""Bias-corrected and accelerated bootstrap intervals (BCa), for statistics of sums over clusters.

The method is Efron's (1987). If a statistic is a function of sums over clusters, a replicate needs only the sums of the
drawn clusters. The jackknife needs only the total minus one cluster's sums. So one matrix product computes thousands of
replicates.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.bootstrap import require_confidence_level, require_resamples, resampled_totals
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.randomness import Seed, generator_of

_FEW_KINDS: Final = 0.25
"""Below this share of distinct clusters it is cheaper to draw the number of clusters of each kind."""
_NUMBERS_AT_ONCE: Final = 20_000_000
_ROUNDING: Final = 1e-12


@dataclass(frozen=True)
class ClusterBootstrap:
    """An estimate with its BCa bounds.

    `n_undefined` replicates were left out, since the statistic is undefined for them.

    If there are no bounds, `reason` says why.
    """

    estimate: float | None
    low: float | None
    high: float | None
    n_clusters: int
    n_undefined: int
    reason: str | None


def bootstrap_clusters(
    totals: FloatArray,
    statistic: Callable[[FloatArray], FloatArray],
    *,
    confidence_level: float,
    n_resamples: int,
    seed: Seed,
) -> ClusterBootstrap:
    """Bootstrap a statistic of the sum of `totals` (clusters, d) by drawing clusters with replacement.

    `statistic` maps sums (m, d) to values (m,), with NaN for undefined values. Bounds are None if the estimate is
    undefined, if there is only one cluster, or if no replicate is defined.

    >>> pairs = np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    >>> found = bootstrap_clusters(
    ...     pairs, lambda sums: sums[:, 0] / sums[:, 1], confidence_level=0.95, n_resamples=200, seed=0
    ... )
    >>> found.estimate, found.n_clusters
    (0.75, 4)
    """
    require_confidence_level(confidence_level)
    require_resamples(n_resamples)
    whole = totals.sum(axis=0, keepdims=True)
    estimate = float(statistic(whole)[0])
    n_clusters = len(totals)
    if np.isnan(estimate) or n_clusters < 2:
        why = "the estimate is not defined" if np.isnan(estimate) else "one cluster does not show how clusters differ"
        return ClusterBootstrap(defined(estimate), None, None, n_clusters, 0, why)
    kinds, kind, counts = np.unique(totals, axis=0, return_inverse=True, return_counts=True)
    is_of_kinds = len(kinds) < _FEW_KINDS * n_clusters
    generator, step = generator_of(seed), max(1, _NUMBERS_AT_ONCE // max(totals.shape[1], 1))
    found = []
    for start in range(0, n_resamples, step):
        size = min(step, n_resamples - start)
        if is_of_kinds:
            drawn = generator.multinomial(n_clusters, counts / n_clusters, size=size) @ kinds
        else:
            drawn = resampled_totals(totals, size, generator)
        found.append(statistic(drawn))
    replicates = np.concatenate(found)
    left_out = _left_out(whole, kinds, statistic)[kind.ravel()] if is_of_kinds else _left_out(whole, totals, statistic)
    low, high = bca_interval(replicates, estimate, left_out, confidence_level)
    reason = None if not np.isnan(low) else "all replicates are equal, undefined, or on one side of the estimate"
    return ClusterBootstrap(estimate, defined(low), defined(high), n_clusters, int(np.isnan(replicates).sum()), reason)


def _left_out(whole: FloatArray, parts: FloatArray, statistic: Callable[[FloatArray], FloatArray]) -> FloatArray:
    step = max(1, _NUMBERS_AT_ONCE // max(parts.shape[1], 1))
    return np.concatenate([statistic(whole - parts[at : at + step]) for at in range(0, len(parts), step)])


def bca_interval(
    replicates: FloatArray, estimate: float, jackknife: FloatArray, confidence_level: float
) -> tuple[float, float]:
    """Return Efron's bounds (1987, section 3). NaN values among the replicates (m,) and in `jackknife` are left out.

    `jackknife` has the values without one cluster each. A replicate that equals the estimate, up to rounding, counts
    half in the bias correction. Both bounds are NaN if all replicates are on one side of the estimate, since the
    correction would be infinite, or if all are equal.

    >>> low, high = bca_interval(np.arange(1, 1001.0), 500.5, np.array([-1.0, 0.0, 1.0]), 0.90)
    >>> round(low, 2), round(high, 2)  # neither biased nor skewed: the 5 % and 95 % points
    (50.95, 950.05)
    """
    known = np.sort(replicates[~np.isnan(replicates)])
    spread = jackknife[~np.isnan(jackknife)]
    if not len(known) or not len(spread):
        return float("nan"), float("nan")
    tolerance = _ROUNDING * max(float(np.abs(known).max()), abs(estimate))
    below = (np.sum(known < estimate - tolerance) + np.sum(known <= estimate + tolerance)) / 2 / len(known)
    if not 0 < below < 1 or known[-1] - known[0] <= tolerance:
        return float("nan"), float("nan")
    bias = float(scipy.special.ndtri(below))
    leads = spread.mean() - spread
    largest = float(np.abs(leads).max())
    leads = leads / largest if largest > 0 else leads
    squares = float(np.sum(leads**2))
    acceleration = float(np.sum(leads**3)) / (6 * squares**1.5) if squares > 0 else 0.0
    tails = scipy.special.ndtri(np.array([(1 - confidence_level) / 2, (1 + confidence_level) / 2]))
    points = scipy.special.ndtr(bias + (bias + tails) / (1 - acceleration * (bias + tails)))
    low, high = np.quantile(known, points)
    return float(low), float(high)
