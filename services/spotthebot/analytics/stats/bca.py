"""Bias-corrected and accelerated bootstrap intervals (BCa), for statistics of sums over clusters.

Efron 1987. Where a statistic depends on the data through sums over clusters, a replicate needs only the drawn sums and
the jackknife only the total less one cluster's, so thousands of replicates are one matrix product.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.bootstrap import defined, require_confidence_level, require_resamples, resampled_totals
from spotthebot.analytics.stats.randomness import Seed, generator_of

_FEW_KINDS: Final = 0.25
"""Below this share of distinct clusters it is cheaper to draw how often each kind occurs."""


@dataclass(frozen=True)
class ClusterBootstrap:
    """An estimate with its BCa bounds, None where undefined; `n_undefined` replicates were left out."""

    estimate: float | None
    low: float | None
    high: float | None
    n_clusters: int
    n_undefined: int


def bootstrap_clusters(
    totals: FloatArray,
    statistic: Callable[[FloatArray], FloatArray],
    *,
    confidence_level: float,
    n_resamples: int,
    seed: Seed,
) -> ClusterBootstrap:
    """Bootstrap a statistic of the sum of `totals` (clusters, d) by drawing clusters with replacement.

    `statistic` maps sums (m, d) to values (m,), NaN where undefined. Bounds are None where the estimate is undefined,
    where there is one cluster, or where no replicate is defined.

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
        return ClusterBootstrap(defined(estimate), None, None, n_clusters, 0)
    kinds, kind, counts = np.unique(totals, axis=0, return_inverse=True, return_counts=True)
    if len(kinds) < _FEW_KINDS * n_clusters:
        drawn = generator_of(seed).multinomial(n_clusters, counts / n_clusters, size=n_resamples) @ kinds
        left_out = statistic(whole - kinds)[kind.ravel()]
    else:
        drawn = resampled_totals(totals, n_resamples, seed)
        left_out = statistic(whole - totals)
    replicates = statistic(drawn)
    low, high = bca_interval(replicates, estimate, left_out, confidence_level)
    return ClusterBootstrap(estimate, defined(low), defined(high), n_clusters, int(np.isnan(replicates).sum()))


def bca_interval(
    replicates: FloatArray, estimate: float, jackknife: FloatArray, confidence_level: float
) -> tuple[float, float]:
    """Return Efron's (1987, section 3) bounds from replicates (m,) and leave-one-out values; NaN ones are left out.

    Replicates equal to the estimate count half to the bias correction. Where every replicate lies on one side of the
    estimate the correction is infinite, and both bounds are NaN.

    >>> low, high = bca_interval(np.arange(1, 1001.0), 500.5, np.array([-1.0, 0.0, 1.0]), 0.90)
    >>> round(low, 2), round(high, 2)  # neither biased nor skewed: the 5 % and 95 % points
    (50.95, 950.05)
    """
    known = np.sort(replicates[~np.isnan(replicates)])
    spread = jackknife[~np.isnan(jackknife)]
    if not len(known) or not len(spread):
        return float("nan"), float("nan")
    below = (np.sum(known < estimate) + np.sum(known <= estimate)) / 2 / len(known)
    if not 0 < below < 1:
        return float("nan"), float("nan")
    bias = float(scipy.special.ndtri(below))
    leads = spread.mean() - spread
    squares = float(np.sum(leads**2))
    acceleration = float(np.sum(leads**3)) / (6 * squares**1.5) if squares > 0 else 0.0
    tails = scipy.special.ndtri(np.array([(1 - confidence_level) / 2, (1 + confidence_level) / 2]))
    points = scipy.special.ndtr(bias + (bias + tails) / (1 - acceleration * (bias + tails)))
    low, high = np.quantile(known, points)
    return float(low), float(high)
