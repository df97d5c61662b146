"""The distances between values at each level of measurement, computed without a table of all pairs.

Nominal, ordinal and interval distances are squared distances of points. So the sum over all pairs of n values takes
only n steps. The distances of amounts (ratio) are computed in blocks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.statistics.errors import SettingOutOfRange

_NUMBERS_AT_ONCE: Final = 4_000_000
_MAX_AMOUNTS: Final = 20_000
"""The limit of different amounts, whose distances take a minute."""


class Measurement(StrEnum):
    """The level of measurement: names, ranks, points on a scale, or amounts."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"
    RATIO = "ratio"


@dataclass(frozen=True, eq=False)
class Scale:
    """The k distinct values, ascending. `places` (k,) are from 0 to 1; `amounts` (k,) are shares of the largest value.

    Both are 0 if the level of measurement does not need them.
    """

    level: Measurement
    places: FloatArray
    amounts: FloatArray

    @classmethod
    def of(cls, values: Sequence[Any], level: Measurement) -> "Scale":
        """Return the scale of distinct values; raises `SettingOutOfRange` for values that the level can't tell apart.

        Differences are computed before rounding, so different integers beyond 2**53 stay different.

        >>> Scale.of([2**60, 2**60 + 1, 2**60 + 2], Measurement.INTERVAL).places.tolist()
        [0.0, 0.5, 1.0]
        """
        places, amounts = np.zeros(len(values)), np.zeros(len(values))
        if level in {Measurement.INTERVAL, Measurement.RATIO} and len(values):
            if not all(isinstance(value, int) or np.isfinite(value) for value in values):
                raise SettingOutOfRange(setting="value", allowed=f"finite at the level {level}", value="infinite")
            if level is Measurement.RATIO and len(values) > _MAX_AMOUNTS:
                allowed = f"of {_MAX_AMOUNTS:,} different amounts at most, as rounded ones are"
                raise SettingOutOfRange(setting="value", allowed=allowed, value=f"of {len(values):,}")
            if level is Measurement.RATIO and values[0] < 0:
                raise SettingOutOfRange(setting="value", allowed="0 or more at the level ratio", value=values[0])
            exact = [Fraction(value) for value in values]
            span, largest = exact[-1] - exact[0] or Fraction(1), exact[-1] or Fraction(1)
            places = np.array([float((value - exact[0]) / span) for value in exact])
            if level is Measurement.RATIO:
                amounts = np.array([float(value / largest) for value in exact])
                places *= float(span / largest)
        return cls(level, places, amounts)

    def __len__(self) -> int:
        return len(self.places)

    def distances(self, marginals: FloatArray) -> "Distances":
        """Return the distances of the values.

        `marginals` (k,) says how often each value occurs, on which ranks depend.
        """
        if self.level is not Measurement.ORDINAL:
            return Distances(self, self.places)
        return Distances(self, middle_ranks(marginals[None])[0])


def middle_ranks(marginals: FloatArray) -> FloatArray:
    """Return the mid-rank of each value (m, k), minus half of the number of all values.

    The mid-rank is the number of lower values plus half of the number of equal values.
    """
    places: FloatArray = np.cumsum(marginals, axis=1) - marginals / 2 - marginals.sum(axis=1, keepdims=True) / 2
    return places


@dataclass(frozen=True, eq=False)
class Distances:
    """The squared distances D (k, k) of the values of a scale. At the level ordinal, `places` are ranks."""

    scale: Scale
    places: FloatArray

    def of_pairs(self, one: IntArray, other: IntArray) -> FloatArray:
        """Return the distances of pairs of values; numpy broadcasts their shapes."""
        if self.scale.level is Measurement.NOMINAL:
            return np.asarray(one != other, dtype=np.float64)
        apart = self.places[one] - self.places[other]
        if self.scale.level is Measurement.RATIO:
            both = self.scale.amounts[one] + self.scale.amounts[other]
            apart = np.divide(apart, both, out=np.zeros(apart.shape), where=both > 0)
        return np.asarray(apart**2, dtype=np.float64)

    def times(self, weights: FloatArray) -> FloatArray:
        """Return D w for a vector w of weights (k,). D has the distances between the k values."""
        total = weights.sum()
        if self.scale.level is Measurement.NOMINAL:
            return np.asarray(total - weights)
        if self.scale.level is Measurement.RATIO:
            return np.concatenate([np.zeros(0), *(block @ weights for _, block in self.blocks())])
        places = self.places - (weights @ self.places / total if total else 0.0)
        return np.asarray(total * places**2 - 2 * places * (weights @ places) + weights @ places**2)

    def within(self, rows: "scipy.sparse.csr_array") -> FloatArray:
        """Return w' D w for each row w of a matrix (rows, k). D has the distances between the k values.

        If a row has the counts of values, this is twice the sum of the distances over all pairs of the counted values.
        """
        totals = np.asarray(rows.sum(axis=1), dtype=np.float64).ravel()
        if self.scale.level is Measurement.NOMINAL:
            return np.asarray(totals**2 - np.asarray(rows.power(2).sum(axis=1)).ravel())
        if self.scale.level is Measurement.RATIO:
            return np.array([self._within(values, weights) for values, weights in _entries(rows)], dtype=np.float64)
        # Relative to each row's own mean, so that equal values have exactly no distance.
        sizes = np.asarray(abs(rows).sum(axis=1)).ravel()
        means = np.divide(rows @ self.places, totals, out=np.zeros(len(totals)), where=np.abs(totals) > 1e-6 * sizes)
        of = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        apart = self.places[rows.indices] - means[of]
        first, second = (np.bincount(of, weights=rows.data * apart**power, minlength=rows.shape[0]) for power in (1, 2))
        return np.asarray(2 * (totals * second - first**2))

    def blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Yield the matrix D of distances in blocks of rows. A block has as many rows as fit into memory."""
        k = len(self.scale)
        step = max(1, _NUMBERS_AT_ONCE // max(k, 1))
        for start in range(0, k, step):
            chosen = np.arange(start, min(start + step, k))
            yield slice(start, start + len(chosen)), self.of_pairs(chosen[:, None], np.arange(k))

    def _within(self, values: IntArray, weights: FloatArray) -> float:
        q, found = len(values), 0.0
        step = max(1, _NUMBERS_AT_ONCE // max(q, 1))
        for start in range(0, q, step):
            chosen = slice(start, min(start + step, q))
            found += float(weights[chosen] @ self.of_pairs(values[chosen, None], values) @ weights)
        return found


def _entries(rows: "scipy.sparse.csr_array") -> Iterator[tuple[IntArray, FloatArray]]:
    for start, stop in zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True):
        yield rows.indices[start:stop].astype(np.int64), rows.data[start:stop].astype(np.float64)
