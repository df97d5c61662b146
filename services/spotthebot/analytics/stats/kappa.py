"""Fleiss' kappa: agreement beyond chance where every unit has the same number of ratings (Fleiss 1971)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.bootstrap import defined, require_confidence_level
from spotthebot.analytics.stats.coefficient_intervals import METHOD, coefficient_interval, rated_units
from spotthebot.analytics.stats.uncertainty import Clusters, Uncertainty


@dataclass(frozen=True)
class Kappa:
    """Kappa with its interval over `n` units of `ratings` each; `n_left_out` units had another number of ratings.

    `n_repeated` rows were replaced by a later one of their annotator and unit.

    Where kappa is undefined it is None, and `reason` says why; so it does where there is no interval.
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
    """Return kappa of the categories (n,) given to units (n,), one row per rating.

    Kappa needs the same number of ratings of every unit: units with the commonest number above one are taken (the
    larger of two equally common ones), and the result says how many were left out. Units vary together if they are of
    one conversation (n,), by default each its own, or share an annotator (n,); without annotators clusters are
    conversations. Rows without a category (None, NaN) are left out; of an annotator's rows for a unit the last counts.
    Raises `SettingOutOfRange` and `ColumnMalformed`.

    >>> round(fleiss_kappa([0, 0, 1, 1, 2, 2], [1, 1, 2, 2, 1, 2]).estimate, 4)  # (2/3 - 1/2) / (1/2)
    0.3333
    """
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
        method=f"Fleiss' kappa; {METHOD}",
        uncertainty=found.uncertainty,
        reason=reason if np.isnan(estimate) else found.uncertainty.reason,
    )
