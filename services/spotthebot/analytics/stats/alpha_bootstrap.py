"""Krippendorff's alpha with bounds from a bootstrap of clusters of units, as published for ABC-Eval.

The method is that of Finch, Finch & Choi 2023. Marginals and coincidences are sums over units, so the bootstrap adds up
the sums of the drawn clusters. It cannot account for annotators who took part in several clusters; `krippendorff_alpha`
can.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.alpha import RESIDUE, why_undefined
from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.bca import bootstrap_clusters
from spotthebot.analytics.stats.coefficient_intervals import rated_units
from spotthebot.analytics.stats.disagreement import Measurement, Scale, middle_ranks
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.randomness import Seed, seed_of

_MAX_NUMBERS: Final = 50_000_000
"""Numbers of the sums over clusters, which take 400 MB."""


@dataclass(frozen=True)
class BootstrapAlpha:
    """Alpha with BCa bounds; `n` counts units with two values or more.

    `n_repeated` rows were replaced by a later row of the same annotator and unit. `n_undefined` replicates were left
    out, since their values did not vary. If alpha itself is undefined, it is None, and `reason` explains why.
    """

    estimate: float | None
    low: float | None
    high: float | None
    confidence_level: float
    n: int
    n_repeated: int
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
    annotator: ArrayLike | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    seed: Seed = 0,
) -> BootstrapAlpha:
    """Return alpha of values (n,) given to units (n,). A bootstrap that draws whole clusters (n,) gives its bounds.

    By default each unit is a cluster. Each unit must belong to only one cluster. Rows without a value (None, NaN, an
    empty text) are left out. If an annotator (n,) has several rows for a unit, the last row counts. Raises
    `ColumnMalformed` and `SettingOutOfRange`; the second also if there are more different values than fit into memory.

    >>> unit = [0, 0, 1, 1, 2, 2, 3, 3]
    >>> value = [1, 1, 2, 2, 1, 2, 2, 2]  # 7 * (2 * 1) / (2 * 3 * 5) = .4667 of the disagreement by chance
    >>> round(bootstrap_alpha(unit, value, n_resamples=1).estimate, 4)
    0.5333
    """
    level = choice_of("level", level, Measurement)
    units = rated_units(unit, value, cluster, annotator, level)
    paired = units.sizes > 1
    _, place = np.unique(units.observations.conversation[paired], return_inverse=True)
    sums = _Sums.of(units.counts[paired], units.scale, place)
    found = bootstrap_clusters(
        sums.of_clusters, sums.alpha, confidence_level=confidence_level, n_resamples=n_resamples, seed=seed
    )
    reason = why_undefined(np.nan if found.estimate is None else found.estimate, paired)
    if reason is None:
        reason = found.reason
    return BootstrapAlpha(
        estimate=found.estimate,
        low=found.low,
        high=found.high,
        confidence_level=confidence_level,
        n=int(paired.sum()),
        n_repeated=units.n_repeated,
        n_clusters=found.n_clusters,
        n_resamples=n_resamples,
        n_undefined=found.n_undefined,
        level=level,
        method=f"Krippendorff's alpha, {level}; BCa bootstrap of clusters",
        seed=seed_of(seed),
        reason=reason,
    )


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over units: how often each of k values occurs, and the weight of each of p pairs of values.

    A pair is two different values of the same unit. `of_clusters` has the sums of each cluster, (clusters, k + p).
    `one` and `other` (p,) are the two values of each pair.
    """

    of_clusters: FloatArray
    one: IntArray
    other: IntArray
    scale: Scale

    @classmethod
    def of(cls, counts: "scipy.sparse.csr_array", scale: Scale, place: IntArray) -> "_Sums":
        unit, one, other, worth = _pairs(counts)
        k, n_clusters = len(scale), int(place.max(initial=-1)) + 1
        codes, pair = np.unique(one.astype(np.int64) * k + other, return_inverse=True)
        width = k + len(codes)
        if width * n_clusters > _MAX_NUMBERS:
            most = f"few enough for {_MAX_NUMBERS:,} numbers: `krippendorff_alpha` has an interval without a bootstrap"
            raise SettingOutOfRange(setting="the number of different values and pairs", allowed=most, value=width)
        sums = np.zeros((n_clusters, width))
        of = counts.tocoo()
        np.add.at(sums, (place[of.coords[0]], of.coords[1]), of.data)
        np.add.at(sums, (place[unit], k + pair), worth)
        return cls(sums, codes // k, codes % k, scale)

    def alpha(self, sums: FloatArray) -> FloatArray:
        """Return alpha for each row of `sums`; NaN if the values do not vary.

        A row has the form of a row of `of_clusters`: k counts of values, and p weights of pairs.
        """
        k = len(self.scale)
        marginals, met = sums[:, :k], sums[:, k:]
        n = marginals.sum(axis=1)
        distances = self.scale.distances(np.zeros(k))
        if self.scale.level is Measurement.ORDINAL:
            places = middle_ranks(marginals)
            observed = 2 * np.sum(met * (places[:, self.one] - places[:, self.other]) ** 2, axis=1)
        else:
            places = np.broadcast_to(distances.places, marginals.shape)
            observed = 2 * met @ distances.of_pairs(self.one, self.other)
        if self.scale.level is Measurement.NOMINAL:
            expected = n**2 - np.sum(marginals**2, axis=1)
        elif self.scale.level is Measurement.RATIO:
            expected = sum(
                (np.sum((marginals @ block.T) * marginals[:, rows], axis=1) for rows, block in distances.blocks()),
                start=np.zeros(len(sums)),
            )
        else:
            expected = 2 * (n * np.sum(marginals * places**2, axis=1) - np.sum(marginals * places, axis=1) ** 2)
        varied = np.sum(marginals > RESIDUE, axis=1) > 1
        ratio = np.divide((n - 1) * observed, expected, out=np.full(len(sums), np.nan), where=varied & (expected > 0))
        return np.asarray(1 - ratio)


def _pairs(counts: "scipy.sparse.csr_array") -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Return the pairs of different values of each unit: the unit, both values, and the pair's weight."""
    sizes = np.diff(counts.indptr)
    unit = np.repeat(np.arange(len(sizes)), sizes)
    behind = np.repeat(np.cumsum(sizes), sizes) - 1 - np.arange(len(unit))
    first = np.repeat(np.arange(len(unit)), behind)
    second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(behind) - behind, behind)
    of = unit[first]
    others = np.asarray(counts.sum(axis=1)).ravel()[of] - 1
    worth = counts.data[first] * counts.data[second] / others
    return of, counts.indices[first].astype(np.int64), counts.indices[second].astype(np.int64), worth
