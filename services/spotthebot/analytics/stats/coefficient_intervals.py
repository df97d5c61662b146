"""Intervals of coefficients of agreement: Student's, on the scale of Fisher's z = artanh, where no bound passes 1.

Conversations move a coefficient by sums of their effects, annotators' habits by squares and products. So the variance
is that of conversations plus what annotators add: what they are seen to contribute, and never less than normal habits
as different as theirs would make (`annotator_habits`). The first tells of annotators who differ in other ways, such as
care; the second is known far better where they are few. Degrees of freedom are Satterthwaite's (1946) over the two. The
interval lies about the coefficient that takes chance from different annotators: the estimate's chance has a part that
is a panel's own habits, and is too low for it by some .2 over the number of annotators.
`benchmarks/analytics/coverage` has the coverage.
"""

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.annotator_habits import Habits, Ratings, annotator_habits
from spotthebot.analytics.stats.annotator_sets import annotator_sets
from spotthebot.analytics.stats.clustered_variance import (
    ClusteredParts,
    Clusters,
    Influence,
    Observations,
    Uncertainty,
    clustered_parts,
)
from spotthebot.analytics.stats.distributions import student_quantiles
from spotthebot.analytics.stats.errors import SettingOutOfRange

METHOD: Final = "Student's interval of Fisher's z, by units' influence and annotators' habits"
LEAST_ANNOTATORS: Final = 8
"""With fewer, what annotators contribute to the variance tells hardly anything."""
_PERFECT: Final = 1e-12


@dataclass(frozen=True, eq=False)
class RatedUnits:
    """How often each unit got each of the ascending values: `counts` (units, values) over `scale` (values,).

    `ratings` has who gave which, `observations` the conversation and the set of annotators of each unit; `anonymous`
    says that annotators are not known.
    """

    ratings: Ratings
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
    _, who = np.unique(annotators, return_inverse=True)
    observations = Observations(place, *annotator_sets(at, who))
    return RatedUnits(Ratings(at, who, category), counts, scale, observations, annotator is None)


def coefficient_interval(
    units: RatedUnits,
    counted: BoolArray,
    estimate: float,
    influence: FloatArray,
    distance: FloatArray,
    *,
    clusters: Clusters,
    confidence_level: float,
) -> CoefficientInterval:
    """Bound a coefficient by the influence (m,) of its m units, which are `counted` (units,) and have equal weight.

    `distance` (values, values) is what the coefficient takes for disagreement. Annotators that are not known cannot
    vary: clusters are conversations then. Where the coefficient is not defined its estimate is NaN.
    """
    if units.anonymous and clusters.has_annotators:
        clusters = Clusters.CONVERSATION
    all_ = units.observations
    observations = Observations(all_.conversation[counted], all_.annotator[counted], all_.members)
    none = np.zeros(len(influence), dtype=np.int64)
    parts = clustered_parts(
        observations,
        Influence(1, none, np.arange(len(influence)), none, influence, np.ones(len(influence))),
        clusters,
    )
    uncertainty = parts.variances().uncertainty(0)
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
    centre = estimate
    if clusters.has_annotators and uncertainty.standard_error is not None:
        habits = annotator_habits(_ratings_of(units, counted), distance, estimate)
        centre = max(habits.coefficient, _PERFECT - 1)
        uncertainty = _with_habits(uncertainty, parts, habits)
    if uncertainty.standard_error is None or uncertainty.degrees_of_freedom is None:
        return CoefficientInterval(None, None, uncertainty)
    quantile = float(student_quantiles((1 + confidence_level) / 2, uncertainty.degrees_of_freedom))
    reach = quantile * uncertainty.standard_error / (1 - centre**2)
    low, high = (math.tanh(math.atanh(centre) + sign * reach) for sign in (-1, 1))
    return CoefficientInterval(low, high, uncertainty)


def _ratings_of(units: RatedUnits, counted: BoolArray) -> Ratings:
    rated, kept = units.ratings, counted[units.ratings.unit]
    return Ratings((np.cumsum(counted) - 1)[rated.unit[kept]], rated.annotator[kept], rated.value[kept])


def _with_habits(uncertainty: Uncertainty, parts: ClusteredParts, habits: Habits) -> Uncertainty:
    """Add what annotators do to the variance of conversations, or of units where these are the only other clusters."""
    alone, shared = (parts.clustered[0], parts.both) if parts.both is not None else (parts.single, parts.single)
    own = float(alone.variances()[0])
    added = max(float(parts.clustered[-1].variances()[0] - shared.variances()[0]), habits.variance)
    spread = own**2 / float(alone.degrees[0]) + added**2 / habits.degrees
    degrees = (own + added) ** 2 / spread if spread > 0 else float(alone.degrees[0])
    return replace(uncertainty, standard_error=math.sqrt(own + added), degrees_of_freedom=degrees)
