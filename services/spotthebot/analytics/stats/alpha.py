"""Krippendorff's alpha: how much any number of observers agree beyond chance, on any level of measurement.

Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability". Alpha is computed from the matrix of coincidences,
which is a sum over units. The influence of a unit is the change of alpha when its part is added to the matrix. The sums
are computed without the matrix itself, since its size is the square of the number of different values.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import scipy
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.annotations import AnnotationTable, BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.coefficient_intervals import coefficient_interval, rated_units
from spotthebot.analytics.stats.disagreement import Distances, Measurement, Scale
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.uncertainty import Clusters, Uncertainty

RESIDUE: Final = 1e-9
"""Subtracting parts from a total leaves a rounding residue of this relative size instead of 0."""


@dataclass(frozen=True)
class Alpha:
    """Alpha with its interval; `n` counts units with two values or more, `n_values` the values in them.

    `n_repeated` rows were replaced by a later row of the same annotator and unit. `reason` explains why alpha is None
    (undefined), or why there is no interval.
    """

    estimate: float | None
    low: float | None
    high: float | None
    confidence_level: float
    n: int
    n_values: int
    n_repeated: int
    level: Measurement
    method: str
    uncertainty: Uncertainty
    reason: str | None


def krippendorff_alpha(
    unit: ArrayLike,
    value: ArrayLike,
    *,
    level: Measurement = Measurement.NOMINAL,
    conversation: ArrayLike | None = None,
    annotator: ArrayLike | None = None,
    clusters: Clusters = Clusters.BOTH,
    confidence_level: float = 0.95,
) -> Alpha:
    """Return alpha of values (n,) given to units (n,), with one row for each observer of a unit.

    A unit with one value tells nothing about agreement and is left out. Units vary together if they have the same
    conversation (n,), or if they share an annotator (n,). By default each unit is a conversation of its own. Without
    annotators, only conversations are clusters. Rows without a value (None, NaN, an empty text) are left out. If
    an annotator has several rows for a unit, the last row counts. Values may be words only at the level nominal.
    Raises `SettingOutOfRange` and `ColumnMalformed`.

    >>> unit = [0, 0, 1, 1, 2, 2, 3, 3]
    >>> value = [1, 1, 2, 2, 1, 2, 2, 2]  # 7 * (2 * 1) / (2 * 3 * 5) = .4667 of the disagreement by chance
    >>> round(krippendorff_alpha(unit, value).estimate, 4)
    0.5333
    """
    level = choice_of("level", level, Measurement)
    clusters = choice_of("clusters", clusters, Clusters)
    require_confidence_level(confidence_level)
    units = rated_units(unit, value, conversation, annotator, level)
    paired = units.sizes > 1
    counts = units.counts[paired]
    parts = _Parts.of(counts, units.scale)
    estimate = parts.alpha
    influence = np.zeros(len(parts.within)) if np.isnan(estimate) else _influence(counts, parts)
    found = coefficient_interval(
        units, paired, estimate, influence, parts.distances, clusters=clusters, confidence_level=confidence_level
    )
    return Alpha(
        estimate=defined(estimate),
        low=found.low,
        high=found.high,
        confidence_level=confidence_level,
        n=int(paired.sum()),
        n_values=int(units.sizes[paired].sum()),
        n_repeated=units.n_repeated,
        level=level,
        method=f"Krippendorff's alpha, {level}; {found.method}",
        uncertainty=found.uncertainty,
        reason=why_undefined(estimate, paired) or found.uncertainty.reason,
    )


def why_undefined(estimate: float, paired: BoolArray) -> str | None:
    """Return why alpha is NaN; None if it is a number. `paired` marks the units with at least two values."""
    if not np.isnan(estimate):
        return None
    return "all values are the same" if paired.any() else "no unit has two values"


def label_alpha(
    table: AnnotationTable,
    *,
    level: Measurement = Measurement.ORDINAL,
    clusters: Clusters = Clusters.BOTH,
    confidence_level: float = 0.95,
) -> Alpha:
    """Return alpha of the labels bot < unsure < human: a unit is one side of a segment.

    >>> table = AnnotationTable(
    ...     names=("A", "B"),
    ...     conversation=np.array([0, 0]),
    ...     entity=np.array([[0, 1], [0, 1]]),
    ...     exchanges=np.array([2, 2]),
    ...     label=np.array([[2, 0], [2, 0]]),
    ...     annotator=np.array([0, 1]),
    ... )
    >>> label_alpha(table).estimate  # two annotators who agree on both sides
    1.0
    """
    level = choice_of("level", level, Measurement)
    clusters = choice_of("clusters", clusters, Clusters)
    unit, conversation, annotator, value = label_units(table)
    return krippendorff_alpha(
        unit,
        value,
        level=level,
        conversation=conversation,
        annotator=annotator,
        clusters=clusters,
        confidence_level=confidence_level,
    )


def label_units(table: AnnotationTable) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return both labels of every annotation as columns: unit, conversation, annotator, label.

    Labels of conversations between two people are included.

    >>> table = AnnotationTable.from_rows([(7, "A", "B", 2, "human", "bot", 0), (7, "A", "B", 2, "bot", "bot", 1)])
    >>> [column.tolist() for column in label_units(table)]
    [[0, 1, 0, 1], [7, 7, 7, 7], [0, 0, 1, 1], [2, 0, 0, 0]]
    """
    segments = np.column_stack([table.conversation, table.exchanges])
    _, segment = np.unique(segments, axis=0, return_inverse=True)
    unit = (segment.reshape(-1, 1) * 2 + np.arange(2)).ravel()
    return unit, np.repeat(table.text, 2), np.repeat(table.annotator, 2), table.label.ravel()


@dataclass(frozen=True, eq=False)
class _Parts:
    """The parts of alpha: how often each value occurs (`marginals`), and the disagreement `within` each unit."""

    sizes: FloatArray
    marginals: FloatArray
    distances: Distances
    within: FloatArray

    @classmethod
    def of(cls, counts: "scipy.sparse.csr_array", scale: Scale) -> "_Parts":
        sizes, marginals = (np.asarray(counts.sum(axis=axis), dtype=np.float64).ravel() for axis in (1, 0))
        distances = scale.distances(marginals)
        return cls(sizes, marginals, distances, distances.within(counts) / (sizes - 1))

    @cached_property
    def expected(self) -> float:
        return float(self.marginals @ self.distances.times(self.marginals))

    @property
    def alpha(self) -> float:
        if np.sum(self.marginals > RESIDUE) < 2:
            return float("nan")
        return float(1 - (self.marginals.sum() - 1) * self.within.sum() / self.expected)


def _influence(counts: "scipy.sparse.csr_array", parts: _Parts) -> FloatArray:
    """Return the influence of each unit (units,) on alpha: its derivative along the unit's coincidences.

    Alpha is 1 - (n - 1) O / E. O is the sum of coincidences times distances. E is the sum of products of marginals
    times distances. At the level ordinal, distances depend on the marginals, so a unit also changes the distances in
    all other units.
    """
    marginals, sizes = parts.marginals, parts.sizes
    n, observed, expected = float(marginals.sum()), float(parts.within.sum()), parts.expected
    within = parts.within
    between = 2 * (counts @ parts.distances.times(marginals))
    if parts.distances.scale.level is Measurement.ORDINAL:
        middle = parts.distances.places
        # The coincidences of all units, times the middles.
        met = counts.T @ ((counts @ middle) / (sizes - 1)) - counts.T @ (1 / (sizes - 1)) * middle
        within = within + 4 * _moved(counts, middle * marginals - met)
        between = between + 4 * _moved(counts, marginals * (middle * n - marginals @ middle))
    change = sizes * observed + (n - 1) * (within - observed * between / expected)
    influence = -change / expected
    # Alpha uses n - 1 instead of n. This adds the same to every unit, and so makes no difference.
    centred: FloatArray = influence - sizes * influence.sum() / n
    return centred


def _moved(counts: "scipy.sparse.csr_array", slope: FloatArray) -> FloatArray:
    """Return how much each unit changes the mid-ranks of the k values, multiplied by the `slope` (k,) of each rank."""
    moved: FloatArray = counts @ (np.cumsum(slope[::-1])[::-1] - slope / 2)
    return moved
