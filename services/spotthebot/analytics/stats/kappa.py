"""Fleiss' kappa: agreement beyond chance where every unit has the same number of ratings (Fleiss 1971)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.bca import bootstrap_clusters
from spotthebot.analytics.stats.errors import SettingOutOfRange
from spotthebot.analytics.stats.randomness import Seed, seed_of


@dataclass(frozen=True)
class Kappa:
    """Kappa with BCa bounds over `n` units of `ratings` each; `n_left_out` units had another number of ratings.

    Where kappa is undefined it is None, and `reason` says why; `n_undefined` replicates had no variation.
    """

    estimate: float | None
    low: float | None
    high: float | None
    confidence_level: float
    n: int
    n_left_out: int
    ratings: int | None
    n_clusters: int
    n_resamples: int
    n_undefined: int
    method: str
    seed: int | None
    reason: str | None


def fleiss_kappa(
    unit: ArrayLike,
    category: ArrayLike,
    *,
    cluster: ArrayLike | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    seed: Seed = 0,
) -> Kappa:
    """Return kappa of the categories (n,) given to units (n,), one row per rating.

    Kappa needs the same number of ratings of every unit: units with the commonest number above one are taken (the
    larger of two equally common ones), and the result says how many were left out. Bounds come from drawing whole
    clusters (n,) of units, the units themselves by default. Raises `SettingOutOfRange`.

    >>> round(fleiss_kappa([0, 0, 1, 1, 2, 2], [1, 1, 2, 2, 1, 2], n_resamples=1).estimate, 4)  # (2/3 - 1/2) / (1/2)
    0.3333
    """
    units, categories = np.asarray(unit), np.asarray(category)
    clusters = units if cluster is None else np.asarray(cluster)
    if not units.shape == categories.shape == clusters.shape or units.ndim != 1:
        raise SettingOutOfRange(
            setting="unit, category and cluster",
            allowed="columns of one length",
            value=f"{units.shape}, {categories.shape}",
        )
    codes, first, at = np.unique(units, return_index=True, return_inverse=True)
    kinds, code = np.unique(categories, return_inverse=True)
    counts = np.bincount(at * len(kinds) + code, minlength=len(codes) * len(kinds)).reshape(len(codes), len(kinds))
    ratings = counts.sum(axis=1)
    several = np.bincount(ratings[ratings > 1])
    common = int(len(several) - 1 - np.argmax(several[::-1])) if len(several) else None
    kept = ratings == common
    chosen = counts[kept].astype(np.float64)
    # Per unit: the ratings of each category, the pairs of ratings that agree, and one for the unit itself.
    agreeing = np.sum(chosen * (chosen - 1), axis=1)
    rows = np.column_stack([chosen, agreeing, np.ones(len(chosen))])
    _, place = np.unique(clusters[first][kept], return_inverse=True)
    totals = np.zeros((int(place.max()) + 1 if len(place) else 0, rows.shape[1]))
    np.add.at(totals, place, rows)
    found = bootstrap_clusters(
        totals,
        lambda sums: _kappa(sums, common or 2),
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        seed=seed,
    )
    reason = None
    if found.estimate is None:
        reason = "no unit has two ratings" if common is None else "all ratings are the same"
    elif found.low is None:
        reason = "no bounds: one cluster alone, or replicates that all lie on one side"
    return Kappa(
        estimate=found.estimate,
        low=found.low,
        high=found.high,
        confidence_level=confidence_level,
        n=int(kept.sum()),
        n_left_out=int((~kept).sum()),
        ratings=common,
        n_clusters=found.n_clusters,
        n_resamples=n_resamples,
        n_undefined=found.n_undefined,
        method="Fleiss' kappa; BCa bootstrap of clusters",
        seed=seed_of(seed),
        reason=reason,
    )


def _kappa(sums: FloatArray, ratings: int) -> FloatArray:
    units = sums[:, -1]
    known = units > 0
    n = np.where(known, units, 1.0)
    observed = sums[:, -2] / (n * ratings * (ratings - 1))
    expected = np.sum((sums[:, :-2] / (n * ratings)[:, None]) ** 2, axis=1)
    defined = known & (expected < 1 - 1e-12)
    kappa: FloatArray = np.full(len(sums), np.nan)
    kappa[defined] = (observed[defined] - expected[defined]) / (1 - expected[defined])
    return kappa
