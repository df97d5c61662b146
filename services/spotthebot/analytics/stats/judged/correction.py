"""The correction of people's estimates by a judge (PPI++), with the variance of the corrected estimates.

The judge's difference D of an estimate is the judge's mean over the labelled rows minus its mean over all units, within
strata. Its expectation is 0 if the same judge saw all units, and if labelled units are drawn at random. So people's
estimate minus lambda D has the expectation of people's estimate, whatever the judge says (Angelopoulos, Duchi & Zrnic
2023, "PPI++", Eq. 3).

Lambda is the slope of people's labels on the judge, both centred within annotators and strata: a judge sees the text,
and the text does not tell who labels it. A slope that also fits the means of a few annotators fits chance, and its
intervals are too narrow. The slope may be negative. It is shrunk by its own error (the positive part of James & Stein
1961), to 0 for a judge that tells nothing. The corrected estimate's variance is people's two-way clustered variance
minus lambda² Var(D), the part that the judge explains; Var(D) is clustered by conversation. The part of annotators
stays as it is. `benchmarks/analytics/judges` measures coverage and error.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.judged.columns import (
    JudgedUnits,
    LabelledRows,
    centred,
    dense,
    distinct,
    ratio,
    sums,
)
from spotthebot.statistics.cells import occurring_cells
from spotthebot.statistics.cluster_shares import column_sums
from spotthebot.statistics.uncertainty import ClusteredVariance

Bounds: TypeAlias = Callable[[FloatArray, ClusteredVariance, FloatArray], tuple[FloatArray, FloatArray]]
"""Returns bounds of estimates (m,) with their variance. The last argument (m,): how many labels a label is worth."""
SHRINKAGE: Final = 2.0
"""Lambda is multiplied by 1 - `SHRINKAGE` / F, and by 0 where that is negative; F is (slope / its error)²."""
_LEAST_DEGREES: Final = 3
_ROUNDING: Final = 1e-18


@dataclass(frozen=True, eq=False)
class Control:
    """The judge's difference D of m estimates, by conversation, and the slopes of labels on it.

    `sums` has the contribution of each conversation to D (conversations, m). `slope` and `slope_error` (m,) are of
    labels on the judge, NaN where nothing can be fitted. `used` (m,) is lambda. `least` (m,) is the variance of the
    corrected labels taken for independent, below which no corrected variance falls.
    """

    difference: FloatArray
    sums: "scipy.sparse.csr_array"
    slope: FloatArray
    slope_error: FloatArray
    used: FloatArray
    least: FloatArray

    @property
    def variance(self) -> FloatArray:
        """Return Var(D) of each estimate (m,), clustered by conversation."""
        return column_sums(self.sums.multiply(self.sums))

    def combined(self, weights: "scipy.sparse.csr_array") -> "Control":
        """Return the control of combinations of estimates, `weights` (combinations, m), each within one family."""
        if not weights.shape[1]:
            nothing = np.zeros(weights.shape[0])
            sums_of_none = scipy.sparse.csr_array((self.sums.shape[0], len(nothing)))
            return Control(nothing, sums_of_none, nothing + np.nan, nothing + np.nan, nothing, nothing)
        of = np.asarray(abs(weights).argmax(axis=1)).ravel()
        return Control(
            difference=weights @ self.difference,
            sums=self.sums @ weights.T.tocsr(),
            slope=self.slope[of],
            slope_error=self.slope_error[of],
            used=self.used[of],
            least=weights.multiply(weights) @ self.least,
        )

    def without(self, statistics: BoolArray) -> "Control":
        """Return the control with a lambda of 0 for the estimates where the mask (m,) is true."""
        return replace(self, used=np.where(statistics, 0.0, self.used))

    @property
    def shift(self) -> FloatArray:
        """Return the correction of each estimate (m,)."""
        return -self.used * self.difference

    def corrected(self, people: ClusteredVariance) -> ClusteredVariance:
        """Return the variances of the corrected estimates, from the variances of people's estimates."""
        left = np.maximum(people.variance - self.used**2 * self.variance, np.minimum(self.least, people.variance))
        return replace(people, variance=np.where(self.used == 0, people.variance, left))


@dataclass(frozen=True, eq=False)
class Difference:
    """A value's mean over labelled rows minus its mean over all units, of m estimates, and its parts by conversation.

    `cell` (n,) has the code of the statistic and stratum of each labelled row.
    """

    difference: FloatArray
    sums: "scipy.sparse.csr_array"
    cell: IntArray


def difference_of(rows: LabelledRows, units: JudgedUnits, m: int) -> Difference:
    """Return the difference of `judge`, which has no NaN, between the labelled rows and all units."""
    statistic, stratum, conversation = (
        np.concatenate([getattr(rows, name), getattr(units, name)]) for name in ("statistic", "stratum", "conversation")
    )
    cell = dense(statistic, stratum)
    n_cells = int(cell.max(initial=-1)) + 1
    of_rows, of_units = cell[: len(rows.judge)], cell[len(rows.judge) :]
    of_statistic = sums(rows.statistic, rows.weight, m)
    in_cell = sums(of_rows, rows.weight, n_cells)
    statistic_of_cell = np.zeros(n_cells, dtype=np.int64)
    statistic_of_cell[of_rows], statistic_of_cell[of_units] = rows.statistic, units.statistic
    share = ratio(in_cell, of_statistic[statistic_of_cell])
    n_units = np.bincount(of_units, minlength=n_cells)
    of_labelled = ratio(sums(of_rows, rows.weight * rows.judge, n_cells), in_cell)
    of_all = ratio(sums(of_units, units.judge, n_cells), n_units)
    influence = np.concatenate(
        [
            rows.weight * (rows.judge - of_labelled[of_rows]) / of_statistic[rows.statistic],
            -share[of_units] * (units.judge - of_all[of_units]) / n_units[of_units],
        ]
    )
    code = dense(conversation)
    by_conversation = scipy.sparse.csr_array((influence, (code, statistic)), shape=(int(code.max(initial=-1)) + 1, m))
    return Difference(sums(statistic_of_cell, share * (of_labelled - of_all), m), by_conversation, of_rows)


@dataclass(frozen=True, eq=False)
class Corrected:
    """Corrected estimates (m,) with bounds and variances, beside people's bounds.

    An estimate whose interval would be wider than people's is people's.
    """

    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    people_low: FloatArray
    people_high: FloatArray
    variance: ClusteredVariance
    control: Control


def worth(people: ClusteredVariance, corrected: ClusteredVariance) -> FloatArray:
    """Return how many labels of people alone a label with the judge is worth (m,), 1 where nothing varies."""
    return np.divide(
        people.variance, corrected.variance, out=np.ones(len(people.variance)), where=corrected.variance > 0
    )


def correct(people: FloatArray, variance: ClusteredVariance, control: Control, bounds: Bounds) -> Corrected:
    """Correct people's estimates (m,), which have this variance. `bounds` computes bounds of estimates."""
    people_low, people_high = bounds(people, variance, np.ones(len(people)))
    left = control.corrected(variance)
    low, high = bounds(people + control.shift, left, worth(variance, left))
    wider = high - low > people_high - people_low
    control = control.without(wider)
    return Corrected(
        estimate=people + control.shift,
        low=np.where(wider, people_low, low),
        high=np.where(wider, people_high, high),
        people_low=people_low,
        people_high=people_high,
        variance=control.corrected(variance),
        control=control,
    )


def fit_control(rows: LabelledRows, units: JudgedUnits, family: IntArray) -> Control:
    """Fit the control of m estimates. Estimates of one `family` (m,) share lambda, as the win rates of small pairs do.

    Rows and units without an answer of the judge do not count.
    """
    rows, units = rows.select(~np.isnan(rows.judge)), units.select(~np.isnan(units.judge))
    m = len(family)
    found = difference_of(rows, units, m)
    slope, error = _slopes(rows, found.cell, family)
    certainty = ratio(slope**2, error**2)
    certain = (error == 0) & (slope != 0)
    kept = np.where(certain, 1.0, np.maximum(0.0, 1 - SHRINKAGE / np.maximum(certainty, _ROUNDING)))
    used = np.where(np.isnan(slope), 0.0, slope * kept)
    total = sums(rows.statistic, rows.weight, m)
    left = rows.residual - used[rows.statistic] * centred(rows.judge, rows.weight, found.cell)
    least = sums(rows.statistic, (ratio(rows.weight, total[rows.statistic]) * left) ** 2, m)
    return Control(found.difference, found.sums, slope, error, used, least)


def _slopes(rows: LabelledRows, cell: IntArray, family: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the slopes (m,) of labels on the judge within annotators and strata, and their errors."""
    m, g = len(family), int(family.max(initial=-1)) + 1
    of_row = family[rows.statistic]
    crew = dense(of_row, rows.annotator)
    y, f = (centred(value, rows.weight, cell, crew) for value in (rows.residual, rows.judge))
    total = sums(rows.statistic, rows.weight, m)
    scale = ratio(rows.weight, total[rows.statistic])
    shared = occurring_cells(rows.statistic, dense(rows.conversation), np.ones(len(of_row)))
    of_labels, of_judge = (sums(shared.entry, scale * value, len(shared.outer)) for value in (y, f))
    group = family[shared.outer]
    spread = sums(group, of_judge**2, g)
    spread = np.where(spread > _ROUNDING, spread, np.nan)
    n = np.bincount(of_row, minlength=g)
    degrees = n - distinct(of_row, crew, g) - distinct(of_row, cell, g)
    slope = sums(group, of_judge * of_labels, g) / spread
    slope[degrees < _LEAST_DEGREES] = np.nan
    left = of_judge * (of_labels - slope[group] * of_judge)
    squares = sums(group, left**2, g) * n / np.maximum(degrees, 1)
    return slope[family], (np.sqrt(squares) / spread)[family]
