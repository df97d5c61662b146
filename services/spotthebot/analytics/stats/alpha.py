"""Krippendorff's alpha: agreement beyond chance of any number of observers, on any level of measurement.

Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability". Alpha depends on the values through the matrix of
coincidences, which adds up over units: the bootstrap draws clusters of units as sums of their matrices.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.annotations import AnnotationTable, FloatArray, IntArray
from spotthebot.analytics.stats.bca import bootstrap_clusters
from spotthebot.analytics.stats.errors import SettingOutOfRange
from spotthebot.analytics.stats.randomness import Seed, seed_of


class Measurement(StrEnum):
    """What the values are: names, ranks, points of a scale, or amounts."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"
    RATIO = "ratio"


@dataclass(frozen=True)
class Alpha:
    """Alpha with BCa bounds; `n` counts units with two values or more, `n_values` the values in them.

    `n_undefined` replicates had no variation and were left out. Where alpha itself is undefined it is None, and
    `reason` says why.
    """

    estimate: float | None
    low: float | None
    high: float | None
    confidence_level: float
    n: int
    n_values: int
    n_clusters: int
    n_resamples: int
    n_undefined: int
    level: Measurement
    method: str
    seed: int | None
    reason: str | None


def krippendorff_alpha(
    unit: ArrayLike,
    value: ArrayLike,
    *,
    level: Measurement = Measurement.NOMINAL,
    cluster: ArrayLike | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    seed: Seed = 0,
) -> Alpha:
    """Return alpha of values (n,) given to units (n,), one row for each observer who gave one.

    A unit with one value says nothing of agreement and is left out. Bounds come from drawing whole clusters (n,) of
    units, the units themselves by default; each unit must lie in one cluster. Raises `SettingOutOfRange`.

    >>> unit = [0, 0, 1, 1, 2, 2, 3, 3]
    >>> value = [1, 1, 2, 2, 1, 2, 2, 2]  # 7 * (2 * 1) / (2 * 3 * 5) = .4667 of the disagreement by chance
    >>> round(krippendorff_alpha(unit, value, n_resamples=1).estimate, 4)
    0.5333
    """
    units, values = np.asarray(unit), np.asarray(value, dtype=np.float64)
    clusters = units if cluster is None else np.asarray(cluster)
    if not units.shape == values.shape == clusters.shape or units.ndim != 1:
        raise SettingOutOfRange(
            setting="unit, value and cluster", allowed="columns of one length", value=f"{units.shape}, {values.shape}"
        )
    codes, first, at = np.unique(units, return_index=True, return_inverse=True)
    if np.any(clusters[first][at] != clusters):
        raise SettingOutOfRange(setting="cluster", allowed="the same for all values of a unit", value="different ones")
    scale, category = np.unique(values, return_inverse=True)
    counts = np.bincount(at * len(scale) + category, minlength=len(codes) * len(scale)).reshape(len(codes), len(scale))
    paired = counts.sum(axis=1) > 1
    coincidences = _coincidences(counts[paired].astype(np.float64))
    _, place = np.unique(clusters[first][paired], return_inverse=True)
    sums = np.zeros((int(place.max()) + 1 if len(place) else 0, len(scale) ** 2))
    np.add.at(sums, place, coincidences)
    found = bootstrap_clusters(
        sums,
        lambda totals: alpha_of_coincidences(totals.reshape(len(totals), len(scale), len(scale)), scale, level),
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        seed=seed,
    )
    reason = None
    if found.estimate is None:
        reason = "all values are the same" if paired.any() else "no unit has two values"
    elif found.low is None:
        reason = "no bounds: one cluster alone, or replicates that all lie on one side"
    return Alpha(
        estimate=found.estimate,
        low=found.low,
        high=found.high,
        confidence_level=confidence_level,
        n=int(paired.sum()),
        n_values=int(counts[paired].sum()),
        n_clusters=found.n_clusters,
        n_resamples=n_resamples,
        n_undefined=found.n_undefined,
        level=level,
        method=f"Krippendorff's alpha, {level}; BCa bootstrap of clusters",
        seed=seed_of(seed),
        reason=reason,
    )


def label_alpha(
    table: AnnotationTable,
    *,
    level: Measurement = Measurement.ORDINAL,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    seed: Seed = 0,
) -> Alpha:
    """Return alpha of the labels bot < unsure < human: a unit is one side of a segment, a cluster a conversation.

    >>> table = AnnotationTable(
    ...     names=("A", "B"),
    ...     conversation=np.array([0, 0]),
    ...     entity=np.array([[0, 1], [0, 1]]),
    ...     exchanges=np.array([2, 2]),
    ...     label=np.array([[2, 0], [2, 0]]),
    ...     annotator=np.array([0, 1]),
    ... )
    >>> label_alpha(table, n_resamples=1).estimate  # two annotators who agree on both sides
    1.0
    """
    unit, cluster, value = label_units(table)
    return krippendorff_alpha(
        unit,
        value,
        level=level,
        cluster=cluster,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        seed=seed,
    )


def label_units(table: AnnotationTable) -> tuple[IntArray, IntArray, IntArray]:
    """List both labels of every annotation as (unit, conversation, label) columns; people among themselves included.

    >>> table = AnnotationTable.from_rows([(7, "A", "B", 2, "human", "bot", 0), (7, "A", "B", 2, "bot", "bot", 1)])
    >>> [column.tolist() for column in label_units(table)]
    [[0, 1, 0, 1], [7, 7, 7, 7], [2, 0, 0, 0]]
    """
    segments = np.column_stack([table.conversation, table.exchanges])
    _, segment = np.unique(segments, axis=0, return_inverse=True)
    unit = (segment.reshape(-1, 1) * 2 + np.arange(2)).ravel()
    return unit, np.repeat(table.conversation, 2), table.label.ravel()


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


def _coincidences(counts: FloatArray) -> FloatArray:
    """Return each unit's matrix, flat: pairs of its values, each worth 1 / (values - 1)."""
    pairs = counts[:, :, None] * counts[:, None, :]
    diagonal = np.arange(counts.shape[1])
    pairs[:, diagonal, diagonal] -= counts
    weights = 1 / (counts.sum(axis=1) - 1)
    flat: FloatArray = (pairs * weights[:, None, None]).reshape(len(counts), counts.shape[1] ** 2)
    return flat


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
