"""Fleiss' kappa: agreement beyond chance for units with the same number of ratings (Fleiss 1971)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.coefficient_intervals import coefficient_interval, rated_units
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.uncertainty import Clusters, Uncertainty


@dataclass(frozen=True)
class Kappa:
    """Kappa with its interval over `n` units of `ratings` ratings each.

    `n_left_out` units had another number of ratings. `n_repeated` rows were replaced by a later row of the same
    annotator and unit. If kappa is None (undefined), or if there is no interval, `reason` says why.
    """

    estimate: float | None
    low: float | None
    high: float | None
    confidence_level: float
    n: int
    n_left_out: int
    n_repeated: int
    ratings: int | None
    method: str
    uncertainty: Uncertainty
    reason: str | None


def fleiss_kappa(
    unit: ArrayLike,
    category: ArrayLike,
    *,
    conversation: ArrayLike | None = None,
    annotator: ArrayLike | None = None,
    clusters: Clusters = Clusters.BOTH,
    confidence_level: float = 0.95,
) -> Kappa:
    """Return kappa of the categories (n,) given to units (n,), with one row for each rating.

    Kappa needs the same number of ratings for every unit. It uses the units with the most common number above one; of
    two equally common numbers, the larger one. The result counts the other units. Units vary together if they have the
    same conversation (n,), or if they share an annotator (n,). By default each unit is a conversation of its own.
    Without annotators, only conversations are clusters. Rows without a category (None, NaN, an empty text) are left
    out. If an annotator has several rows for a unit, the last row counts. Raises `SettingOutOfRange` and
    `ColumnMalformed`.

    >>> round(fleiss_kappa([0, 0, 1, 1, 2, 2], [1, 1, 2, 2, 1, 2]).estimate, 4)  # (2/3 - 1/2) / (1/2)
    0.3333
    """
    clusters = choice_of("clusters", clusters, Clusters)
    require_confidence_level(confidence_level)
    units = rated_units(unit, category, conversation, annotator)
    ratings = units.sizes
    several = np.bincount(ratings[ratings > 1])
    common = int(len(several) - 1 - np.argmax(several[::-1])) if len(several) else None
    kept = ratings == common
    estimate, influence, shares = np.nan, np.zeros(int(kept.sum())), np.zeros(len(units.scale))
    reason = "no unit has two ratings"
    if common is not None:
        chosen = units.counts[kept] / common
        # Per unit: the share of its pairs of ratings that agree.
        agreeing = (common * np.asarray(chosen.power(2).sum(axis=1)).ravel() - 1) / (common - 1)
        shares = np.asarray(chosen.sum(axis=0)).ravel() / chosen.shape[0]
        by_chance = float(np.sum(shares**2))
        reason = "all ratings are the same"
        if by_chance < 1 - 1e-12:
            estimate = float((agreeing.mean() - by_chance) / (1 - by_chance))
            # The derivative of 1 - (1 - observed) / (1 - by chance) along each unit's own agreement and shares.
            by_unit = 2 * (chosen @ shares - by_chance)
            influence = (agreeing - agreeing.mean() - (1 - estimate) * by_unit) / (1 - by_chance) / len(agreeing)
    found = coefficient_interval(
        units,
        kept,
        estimate,
        influence,
        units.scale.distances(shares),
        clusters=clusters,
        confidence_level=confidence_level,
    )
    return Kappa(
        estimate=defined(estimate),
        low=found.low,
        high=found.high,
        confidence_level=confidence_level,
        n=int(kept.sum()),
        n_left_out=int((~kept).sum()),
        n_repeated=units.n_repeated,
        ratings=common,
        method=f"Fleiss' kappa; {found.method}",
        uncertainty=found.uncertainty,
        reason=reason if np.isnan(estimate) else found.uncertainty.reason,
    )
