"""Intervals of coefficients of agreement: Student's, on the scale of Fisher's z = artanh, where no bound passes 1.

Annotators' habits move a coefficient by their squares and by products of two annotators', which have heavy tails: few
annotators make most of the variance. So degrees of freedom come from how unequally annotators contribute to it
(`Degrees.CONTRIBUTIONS`), and are at most those of the kind of cluster with fewer. The spread of a panel's own habits
is a part of the disagreement that is expected by chance: coefficients of few annotators are a little too low, by some
.2 over their number, and their intervals hold too seldom.
`benchmarks/analytics/coverage` has the coverage.
"""

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.annotator_sets import annotator_sets
from spotthebot.analytics.stats.clustered_variance import (
    Clusters,
    Degrees,
    Influence,
    Observations,
    Uncertainty,
    clustered_variance,
)
from spotthebot.analytics.stats.distributions import student_quantiles
from spotthebot.analytics.stats.errors import SettingOutOfRange

METHOD: Final = (
    "Student's interval of Fisher's z, from every unit's influence; degrees of freedom from clusters' contributions"
    " to the variance"
)
LEAST_ANNOTATORS: Final = 30
"""With fewer, the spread of their habits is known too badly, and with it the disagreement expected by chance."""
_PERFECT: Final = 1e-12


@dataclass(frozen=True, eq=False)
class RatedUnits:
    """How often each unit got each of the ascending values: `counts` (units, values) over `scale` (values,).

    `observations` has the conversation and the set of annotators of each unit; `anonymous` says that annotators are
    not known.
    """

    counts: IntArray
    scale: FloatArray
    observations: Observations
    anonymous: bool


@dataclass(frozen=True)
class CoefficientInterval:
    """Bounds of a coefficient, with what they stand on; None where `uncertainty` has a reason."""

    low: float | None
    high: float | None
    uncertainty: Uncertainty


def rated_units(
    unit: ArrayLike, value: ArrayLike, conversation: ArrayLike | None, annotator: ArrayLike | None
) -> RatedUnits:
    """Count the values (n,) of units (n,); each unit lies in one conversation (n,), by default its own.

    Raises `SettingOutOfRange`.
    """
    units, values = np.asarray(unit), np.asarray(value, dtype=np.float64)
    conversations = units if conversation is None else np.asarray(conversation)
    annotators = np.zeros(len(units), dtype=np.int64) if annotator is None else np.asarray(annotator)
    if not units.shape == values.shape == conversations.shape == annotators.shape or units.ndim != 1:
        raise SettingOutOfRange(
            setting="unit, value, conversation and annotator",
            allowed="columns of one length",
            value=f"{units.shape}, {values.shape}",
        )
    codes, first, at = np.unique(units, return_index=True, return_inverse=True)
    if np.any(conversations[first][at] != conversations):
        raise SettingOutOfRange(
            setting="conversation", allowed="the same for all values of a unit", value="different ones"
        )
    scale, category = np.unique(values, return_inverse=True)
    counts = np.bincount(at * len(scale) + category, minlength=len(codes) * len(scale)).reshape(len(codes), len(scale))
    _, place = np.unique(conversations[first], return_inverse=True)
    return RatedUnits(counts, scale, Observations(place, *annotator_sets(at, annotators)), annotator is None)


def coefficient_interval(
    units: RatedUnits,
    counted: BoolArray,
    estimate: float,
    influence: FloatArray,
    *,
    clusters: Clusters,
    confidence_level: float,
) -> CoefficientInterval:
    """Bound a coefficient by the influence (m,) of its m units, which are `counted` (units,) and have equal weight.

    Annotators that are not known cannot vary: clusters are conversations then. Where the coefficient is not defined
    its estimate is NaN.
    """
    if units.anonymous and clusters.has_annotators:
        clusters = Clusters.CONVERSATION
    all_ = units.observations
    observations = Observations(all_.conversation[counted], all_.annotator[counted], all_.members)
    none = np.zeros(len(influence), dtype=np.int64)
    variance = clustered_variance(
        observations,
        Influence(1, none, np.arange(len(influence)), none, influence, np.ones(len(influence))),
        clusters,
        degrees=Degrees.CONTRIBUTIONS,
    )
    uncertainty = variance.uncertainty(0)
    if units.anonymous:
        uncertainty = replace(uncertainty, annotators=0)
    reason = None
    if np.isnan(estimate):
        reason = "the coefficient is not defined"
    elif 1 - estimate < _PERFECT:
        reason = "all agree, so nothing tells how far others would"
    if reason is not None:
        uncertainty = replace(uncertainty, standard_error=None, degrees_of_freedom=None, reason=reason)
    uncertainty = uncertainty.unless_few_annotators(LEAST_ANNOTATORS)
    if uncertainty.standard_error is None or uncertainty.degrees_of_freedom is None:
        return CoefficientInterval(None, None, uncertainty)
    degrees = min(uncertainty.degrees_of_freedom, int(variance.n_clusters[0]) - 1)
    quantile = float(student_quantiles((1 + confidence_level) / 2, degrees))
    reach = quantile * uncertainty.standard_error / (1 - estimate**2)
    low, high = (math.tanh(math.atanh(estimate) + sign * reach) for sign in (-1, 1))
    return CoefficientInterval(low, high, replace(uncertainty, degrees_of_freedom=degrees))
