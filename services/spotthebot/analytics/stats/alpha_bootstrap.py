"""Krippendorff's alpha with bounds from a bootstrap of clusters of units, as ABC-Eval publishes it.

Finch, Finch & Choi 2023. The matrix of coincidences adds up over units, so the bootstrap draws sums of matrices. It
cannot tell of annotators who took part in several clusters: `krippendorff_alpha` can.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.alpha import Measurement, alpha_of_coincidences, coincidences, why_undefined
from spotthebot.analytics.stats.bca import bootstrap_clusters
from spotthebot.analytics.stats.coefficient_intervals import rated_units
from spotthebot.analytics.stats.randomness import Seed, seed_of


@dataclass(frozen=True)
class BootstrapAlpha:
    """Alpha with BCa bounds; `n` counts units with two values or more.

    `n_undefined` replicates had no variation and were left out. Where alpha itself is undefined it is None, and
    `reason` says why.
    """

    estimate: float | None
    low: float | None
    high: float | None
    confidence_level: float
    n: int
    n_clusters: int
    n_resamples: int
    n_undefined: int
    level: Measurement
    method: str
    seed: int | None
    reason: str | None


def bootstrap_alpha(
    unit: ArrayLike,
    value: ArrayLike,
    *,
    level: Measurement = Measurement.NOMINAL,
    cluster: ArrayLike | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    seed: Seed = 0,
) -> BootstrapAlpha:
    """Return alpha of values (n,) given to units (n,), with bounds from drawing whole clusters (n,) of units.

    Clusters are the units themselves by default; each unit must lie in one. Raises `SettingOutOfRange`.

    >>> unit = [0, 0, 1, 1, 2, 2, 3, 3]
    >>> value = [1, 1, 2, 2, 1, 2, 2, 2]  # 7 * (2 * 1) / (2 * 3 * 5) = .4667 of the disagreement by chance
    >>> round(bootstrap_alpha(unit, value, n_resamples=1).estimate, 4)
    0.5333
    """
    units = rated_units(unit, value, cluster, None)
    paired = units.counts.sum(axis=1) > 1
    k = len(units.scale)
    _, place = np.unique(units.observations.conversation[paired], return_inverse=True)
    sums = np.zeros((int(place.max()) + 1 if len(place) else 0, k**2))
    np.add.at(sums, place, coincidences(units.counts[paired].astype(np.float64)))
    found = bootstrap_clusters(
        sums,
        lambda totals: alpha_of_coincidences(totals.reshape(len(totals), k, k), units.scale, level),
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        seed=seed,
    )
    reason = why_undefined(np.nan if found.estimate is None else found.estimate, paired)
    if reason is None and found.low is None:
        reason = "no bounds: one cluster alone, or replicates that all lie on one side"
    return BootstrapAlpha(
        estimate=found.estimate,
        low=found.low,
        high=found.high,
        confidence_level=confidence_level,
        n=int(paired.sum()),
        n_clusters=found.n_clusters,
        n_resamples=n_resamples,
        n_undefined=found.n_undefined,
        level=level,
        method=f"Krippendorff's alpha, {level}; BCa bootstrap of clusters",
        seed=seed_of(seed),
        reason=reason,
    )
