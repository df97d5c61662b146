"""The columns behind a correction: rows that people labelled, and units that a judge saw."""

from dataclasses import dataclass, fields, replace
from typing import Final, TypeVar

import numpy as np

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.statistics.cells import cell_code, occurring_cells

_MAX_ROUNDS: Final = 50
_CLOSE: Final = 1e-9


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """The rows that people labelled, as columns (n,), each for one of the estimates.

    `statistic` has the estimate of a row. `residual` is the row's deviation from it, so that the estimate changes by
    `weight * residual / sum of weights` if the row is added. `judge` is NaN where the judge gave no answer. Units of
    one `stratum`, such as a length, are compared with each other. `weight` is 1 / the probability with which a design
    drew the row's unit.
    """

    statistic: IntArray
    stratum: IntArray
    conversation: IntArray
    annotator: IntArray
    residual: FloatArray
    judge: FloatArray
    weight: FloatArray

    def select(self, rows: BoolArray) -> "LabelledRows":
        """Return the rows where the mask (n,) is true."""
        return LabelledRows(*(getattr(self, each.name)[rows] for each in fields(self)))


@dataclass(frozen=True, eq=False)
class JudgedUnits:
    """All units, such as the sides of conversations at one length, as columns (u,): those that people labelled, too.

    `judge` is NaN where the judge gave no answer. `labelled` tells whether people labelled the unit.
    """

    statistic: IntArray
    stratum: IntArray
    conversation: IntArray
    judge: FloatArray
    labelled: BoolArray

    def select(self, units: BoolArray) -> "JudgedUnits":
        """Return the units where the mask (u,) is true."""
        return JudgedUnits(*(getattr(self, each.name)[units] for each in fields(self)))


Columns = TypeVar("Columns", LabelledRows, JudgedUnits)
"""Either kind of columns."""


def renamed(columns: Columns, statistic: IntArray, stratum: IntArray) -> Columns:
    """Return the columns for other statistics and strata."""
    return replace(columns, statistic=statistic, stratum=stratum)


def dense(*columns: IntArray) -> IntArray:
    """Return codes (n,) from 0 without a gap for the combinations of values, none negative, in the columns' order.

    >>> dense(np.array([4, 4, 2]), np.array([0, 1, 0])).tolist()
    [1, 2, 0]
    """
    code = columns[0]
    ones = np.ones(len(code))
    for column in columns[1:]:
        code, _ = cell_code(occurring_cells(0 * code, code, ones).entry, column)
    return occurring_cells(0 * code, code, ones).entry


def distinct(group: IntArray, code: IntArray, n_groups: int) -> IntArray:
    """Count the different codes in each group (n_groups,)."""
    return np.bincount(occurring_cells(group, code, np.ones(len(code))).outer, minlength=n_groups)


def sums(group: IntArray, value: FloatArray, n_groups: int) -> FloatArray:
    """Return the sums of the values in each group (n_groups,)."""
    return np.bincount(group, weights=value, minlength=n_groups).astype(np.float64)


def ratio(numerator: FloatArray, denominator: FloatArray | IntArray) -> FloatArray:
    """Return quotients (n,); 0 where the denominator is not positive."""
    found: FloatArray = np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator > 0)
    return found


def centred(value: FloatArray, weight: FloatArray, *groups: IntArray) -> FloatArray:
    """Return values (n,) minus the weighted means of their groups. Each of `groups` has codes (n,) from 0.

    With two groupings, the means of both are removed alternately, until the values hardly change.

    >>> centred(np.array([1.0, 3.0, 7.0]), np.ones(3), np.array([0, 0, 1])).tolist()
    [-1.0, 1.0, 0.0]
    """
    left = value.astype(np.float64)
    totals = [np.maximum(np.bincount(group, weights=weight), 1e-300) for group in groups]
    scale = float(np.abs(left).max(initial=0.0))
    for _ in range(1 if len(groups) == 1 else _MAX_ROUNDS):
        moved = 0.0
        for group, total in zip(groups, totals, strict=True):
            means = np.bincount(group, weights=weight * left) / total
            left = left - means[group]
            moved = max(moved, float(np.abs(means).max(initial=0.0)))
        if moved <= _CLOSE * scale:
            break
    return left
