"""Krippendorff's alpha: agreement beyond chance of any number of observers, on any level of measurement.

Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability". Alpha depends on the values through the matrix of
coincidences, which adds up over units: what a unit's matrix changes of alpha is the unit's influence.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.annotations import AnnotationTable, BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import defined, require_confidence_level
from spotthebot.analytics.stats.clustered_variance import Clusters, Uncertainty
from spotthebot.analytics.stats.coefficient_intervals import METHOD, coefficient_interval, rated_units


class Measurement(StrEnum):
    """What the values are: names, ranks, points of a scale, or amounts."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"
    RATIO = "ratio"


@dataclass(frozen=True)
class Alpha:
    """Alpha with its interval; `n` counts units with two values or more, `n_values` the values in them.

    Where alpha is undefined it is None, and `reason` says why; so it does where there is no interval.
    """

    estimate: float | None
    low: float | None
    high: float | None
    confidence_level: float
    n: int
    n_values: int
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
    """Return alpha of values (n,) given to units (n,), one row for each observer who gave one.

    A unit with one value says nothing of agreement and is left out. Units vary together if they are of one
    conversation (n,), by default each its own, or share an annotator (n,); without annotators clusters are
    conversations. Raises `SettingOutOfRange`.

    >>> unit = [0, 0, 1, 1, 2, 2, 3, 3]
    >>> value = [1, 1, 2, 2, 1, 2, 2, 2]  # 7 * (2 * 1) / (2 * 3 * 5) = .4667 of the disagreement by chance
    >>> round(krippendorff_alpha(unit, value).estimate, 4)
    0.5333
    """
    require_confidence_level(confidence_level)
    units = rated_units(unit, value, conversation, annotator)
    paired = units.counts.sum(axis=1) > 1
    counts = units.counts[paired].astype(np.float64)
    total = coincidences(counts).sum(axis=0).reshape(1, len(units.scale), len(units.scale))
    estimate = float(alpha_of_coincidences(total, units.scale, level)[0])
    distance = np.broadcast_to(_squared_distances(total.sum(axis=2), units.scale, level)[0], total.shape[1:])
    influence = np.zeros(len(counts)) if np.isnan(estimate) else _influence(counts, total[0], distance, level)
    found = coefficient_interval(
        units, paired, estimate, influence, distance, clusters=clusters, confidence_level=confidence_level
    )
    return Alpha(
        estimate=defined(estimate),
        low=found.low,
        high=found.high,
        confidence_level=confidence_level,
        n=int(paired.sum()),
        n_values=int(units.counts[paired].sum()),
        level=level,
        method=f"Krippendorff's alpha, {level}; {METHOD}",
        uncertainty=found.uncertainty,
        reason=why_undefined(estimate, paired) or found.uncertainty.reason,
    )


def why_undefined(estimate: float, paired: BoolArray) -> str | None:
    """Say why alpha is NaN, from which units have two values or more."""
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
    """List both labels of every annotation, people among themselves included: unit, conversation, annotator, label.

    >>> table = AnnotationTable.from_rows([(7, "A", "B", 2, "human", "bot", 0), (7, "A", "B", 2, "bot", "bot", 1)])
    >>> [column.tolist() for column in label_units(table)]
    [[0, 1, 0, 1], [7, 7, 7, 7], [0, 0, 1, 1], [2, 0, 0, 0]]
    """
    segments = np.column_stack([table.conversation, table.exchanges])
    _, segment = np.unique(segments, axis=0, return_inverse=True)
    unit = (segment.reshape(-1, 1) * 2 + np.arange(2)).ravel()
    return unit, np.repeat(table.text, 2), np.repeat(table.annotator, 2), table.label.ravel()


def alpha_of_coincidences(matrices: FloatArray, scale: FloatArray, level: Measurement) -> FloatArray:
    """Return alpha of coincidence matrices (m, k, k) over the ascending values `scale` (k,); NaN without variation."""
    marginals = matrices.sum(axis=2)
    n = marginals.sum(axis=1)
    distance = _squared_distances(marginals, scale, level)
    observed = np.sum(matrices * distance, axis=(1, 2))
    expected = np.einsum("mi,mij,mj->m", marginals, np.broadcast_to(distance, matrices.shape), marginals)
    alpha: FloatArray = np.full(len(matrices), np.nan)
    # A total less one of its parts leaves a residue where there was nothing.
    varied = np.sum(marginals > 1e-9, axis=1) > 1
    alpha[varied] = 1 - (n[varied] - 1) * observed[varied] / expected[varied]
    return alpha


def coincidences(counts: FloatArray) -> FloatArray:
    """Return each unit's matrix, flat: pairs of its values, each worth 1 / (values - 1)."""
    pairs = counts[:, :, None] * counts[:, None, :]
    diagonal = np.arange(counts.shape[1])
    pairs[:, diagonal, diagonal] -= counts
    weights = 1 / (counts.sum(axis=1) - 1)
    flat: FloatArray = (pairs * weights[:, None, None]).reshape(len(counts), counts.shape[1] ** 2)
    return flat


def _influence(counts: FloatArray, total: FloatArray, distance: FloatArray, level: Measurement) -> FloatArray:
    """Return by how much each unit (units,) moves alpha: its derivative along the unit's coincidences.

    Alpha is 1 - (n - 1) O / E, with O the sum of coincidences times distances and E that of products of marginals.
    Ranks move with the marginals, so that an ordinal unit moves the distances of all others, too.
    """
    marginals = total.sum(axis=1)
    n = float(marginals.sum())
    observed, expected = float(np.sum(total * distance)), float(marginals @ distance @ marginals)
    within = np.einsum("ui,ij,uj->u", counts, distance, counts) / (counts.sum(axis=1) - 1)
    between = 2 * counts @ (distance @ marginals)
    if level is Measurement.ORDINAL:
        middle = np.cumsum(marginals) - marginals / 2
        moved = np.cumsum(counts, axis=1) - counts / 2
        within = within + 4 * moved @ (middle * marginals - total @ middle)
        between = between + 4 * moved @ (marginals * (middle * n - marginals @ middle))
    change = counts.sum(axis=1) * observed + (n - 1) * (within - observed * between / expected)
    influence = -change / expected
    # What every unit adds because alpha takes n - 1 for n is no difference between units.
    centred: FloatArray = influence - counts.sum(axis=1) * influence.sum() / n
    return centred


def _squared_distances(marginals: FloatArray, scale: FloatArray, level: Measurement) -> FloatArray:
    k = len(scale)
    if level is Measurement.NOMINAL:
        return (1 - np.eye(k))[None]
    if level is Measurement.INTERVAL:
        return (scale[:, None] - scale[None, :])[None] ** 2
    if level is Measurement.RATIO:
        both = scale[:, None] + scale[None, :]
        return np.divide(scale[:, None] - scale[None, :], both, out=np.zeros((k, k)), where=both != 0)[None] ** 2
    # Values between the two, with half of each end: n_c / 2 + ... + n_k / 2.
    middle = np.cumsum(marginals, axis=1) - marginals / 2
    return (middle[:, :, None] - middle[:, None, :]) ** 2
