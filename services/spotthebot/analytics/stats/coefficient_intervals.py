"""Intervals of coefficients of agreement, by Student's t on the scale of Fisher's z = artanh. So bounds are below 1.

The effects of conversations on a coefficient add up; annotators' habits have an effect by squares and products. So the
variance is the part of conversations plus a part of annotators. The annotators' part is the larger one of two numbers:
their observed contribution, and the contribution of normal habits with the same spread (`annotator_habits`). The first
covers annotators who differ in other ways, such as care. The second is known far better if there are few annotators.
Degrees of freedom are Satterthwaite's (1946) over the two parts. The centre of the interval is the coefficient that
computes chance from values of different annotators. The estimate itself computes chance from all values, and is too low
by about .2 divided by the number of annotators. `benchmarks/analytics/coverage` measures the coverage.
"""

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import scipy
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray, last_rows
from spotthebot.analytics.stats.annotator_habits import Habits, Ratings, annotator_habits, counts_of
from spotthebot.analytics.stats.disagreement import Distances, Measurement, Scale
from spotthebot.statistics.annotator_sets import annotator_sets
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.clustered_variance import ClusteredParts, Influence, Observations, clustered_parts
from spotthebot.statistics.columns import Coded, as_exact_number, read_codes
from spotthebot.statistics.distributions import student_quantiles
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.uncertainty import Clusters, Uncertainty

_METHOD: Final = "Student's interval of Fisher's z, by units' influence"
LEAST_ANNOTATORS: Final = 8
"""With fewer annotators, their contribution to the variance tells hardly anything."""
_PERFECT: Final = 1e-12


@dataclass(frozen=True, eq=False)
class RatedUnits:
    """How often each unit got each value of the `scale`: `counts` (units, values).

    `ratings` has the annotator of each value. `observations` has the conversation and the set of annotators of each
    unit. `anonymous` means that annotators are unknown. `n_repeated` rows were replaced by a later row of the same
    annotator and unit.
    """

    ratings: Ratings
    counts: "scipy.sparse.csr_array"
    sizes: IntArray
    scale: Scale
    observations: Observations
    anonymous: bool
    n_repeated: int


@dataclass(frozen=True)
class CoefficientInterval:
    """The bounds of a coefficient, and their basis. Bounds are None if `uncertainty` has a reason."""

    low: float | None
    high: float | None
    uncertainty: Uncertainty

    @property
    def method(self) -> str:
        """Return what the bounds allow for. Annotators' habits count only where annotators are clusters."""
        return f"{_METHOD} and annotators' habits" if self.uncertainty.clusters.has_annotators else _METHOD


def rated_units(
    unit: ArrayLike,
    value: ArrayLike,
    conversation: ArrayLike | None,
    annotator: ArrayLike | None,
    level: Measurement = Measurement.NOMINAL,
) -> RatedUnits:
    """Count the values (n,) of units (n,). Each unit belongs to one conversation (n,), by default to its own.

    A row without a value (None, NaN, an empty text) is left out. If an annotator gave several values to a unit, only
    the last one counts: annotators can't agree or disagree with themselves. Raises `SettingOutOfRange` and
    `ColumnMalformed`.
    """
    level = choice_of("level", level, Measurement)
    units, values = read_codes(unit, "unit").code, _without_empty(read_codes(value, "value", missing=True))
    conversations = units if conversation is None else read_codes(conversation, "conversation").code
    annotators = np.zeros(len(units), np.int64) if annotator is None else read_codes(annotator, "annotator").code
    columns = (units, values.code, conversations, annotators)
    if len({len(each) for each in columns}) > 1:
        raise SettingOutOfRange(
            setting="unit, value, conversation and annotator",
            allowed="columns of one length",
            value=", ".join(str(len(each)) for each in columns),
        )
    _, first, at = np.unique(units, return_index=True, return_inverse=True)
    if np.any(conversations[first][at] != conversations):
        raise SettingOutOfRange(
            setting="conversation", allowed="the same for all values of a unit", value="different ones"
        )
    kept = values.code >= 0
    n_known = int(kept.sum())
    if annotator is not None:
        rows = np.flatnonzero(kept)
        kept = np.zeros(len(kept), dtype=np.bool_)
        kept[rows[last_rows(np.column_stack([units[rows], annotators[rows]]))]] = True
    units, conversations, annotators = units[kept], conversations[kept], annotators[kept]
    scale, category = _scale(values, kept, level)
    _, first, at = np.unique(units, return_index=True, return_inverse=True)
    _, place = np.unique(conversations[first], return_inverse=True)
    _, who = np.unique(annotators, return_inverse=True)
    return RatedUnits(
        ratings=Ratings(at, who, category),
        counts=counts_of(at, category, len(scale)),
        sizes=np.bincount(at, minlength=len(first)),
        scale=scale,
        observations=Observations(place, *annotator_sets(at, who)),
        anonymous=annotator is None,
        n_repeated=n_known - len(units),
    )


def _without_empty(column: Coded) -> Coded:
    """Return a column in which empty texts are missing values."""
    empty = np.array([isinstance(value, str) and not value.strip() for value in column.values], dtype=np.bool_)
    places = np.append(np.where(empty, -1, np.cumsum(~empty) - 1), -1)
    kept = [value for value, is_empty in zip(column.values, empty, strict=True) if not is_empty]
    return Coded(kept, places[column.code])


def _scale(values: Coded, kept: BoolArray, level: Measurement) -> tuple[Scale, IntArray]:
    """Return the scale of the values that occur, and the place of each kept row on this scale."""
    if level is Measurement.NOMINAL:
        return Scale.of(values.values, level), values.code[kept]
    given, first = np.unique(values.code, return_index=True)
    rows = first[given >= 0]
    known = [as_exact_number(each, "value", int(row)) for each, row in zip(values.values, rows, strict=True)]
    distinct = sorted(set(known))
    place = {number: at for at, number in enumerate(distinct)}
    of_value = np.array([place[number] for number in known], dtype=np.int64)
    return Scale.of(distinct, level), of_value[values.code[kept]]


def coefficient_interval(
    units: RatedUnits,
    counted: BoolArray,
    estimate: float,
    influence: FloatArray,
    distances: Distances,
    *,
    clusters: Clusters,
    confidence_level: float,
) -> CoefficientInterval:
    """Return bounds of a coefficient, from the influence (m,) of its m units.

    `counted` (units,) marks these m units, which have equal weight. `distances` has the distances that the coefficient
    counts as disagreement. If annotators are unknown, only conversations are clusters. If the coefficient is undefined,
    `estimate` is NaN.
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
        reason = "all annotators agree, so the data do not show how much others would disagree"
    elif 1 + estimate < _PERFECT:
        reason = "all annotators disagree, so the data do not show how much others would agree"
    if reason is not None:
        uncertainty = replace(uncertainty, standard_error=None, degrees_of_freedom=None, reason=reason)
    uncertainty = uncertainty.unless_few_annotators(LEAST_ANNOTATORS)
    centre = estimate
    if clusters.has_annotators and uncertainty.standard_error is not None:
        habits = annotator_habits(_ratings_of(units, counted), distances, estimate)
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
    """Add the annotators' part to the variance.

    The other part comes from conversations, or from units if they have no conversations.
    """
    alone, shared = (parts.clustered[0], parts.both) if parts.both is not None else (parts.single, parts.single)
    own = float(alone.variances()[0])
    added = max(float(parts.clustered[-1].variances()[0] - shared.variances()[0]), habits.variance)
    spread = own**2 / float(alone.degrees[0]) + added**2 / habits.degrees
    degrees = (own + added) ** 2 / spread if spread > 0 else float(alone.degrees[0])
    return replace(uncertainty, standard_error=math.sqrt(own + added), degrees_of_freedom=degrees)
