"""Interval-censored times: rows (left, right], and the cells in which an estimate can have mass.

The cells are Turnbull's (1976). A cell starts at the left end of a row and stops at the next end of a row, if that is a
right end. An estimate has no mass outside of the cells. An exact time t is the row (t-, t]; a right-censored time is
(left, inf]. Every row covers cells that follow each other, so its probability is a difference of two values of the
distribution function.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray, short_repr
from spotthebot.analytics.stats.errors import IntervalsMalformed
from spotthebot.statistics.clustered_variance import Observations
from spotthebot.statistics.columns import read_codes, read_numbers


@dataclass(frozen=True, eq=False)
class CensoredTimes:
    """Rows of times, each with the cells that it covers: from `first[i]` to `last[i]`, both included.

    `cells` (m, 2) has the ends (left, right] of each cell, ascending. `left` and `right` have the ends of the rows, as
    given.
    """

    left: FloatArray
    right: FloatArray
    cells: FloatArray
    first: IntArray
    last: IntArray

    def __repr__(self) -> str:
        return short_repr(self)

    def __len__(self) -> int:
        return len(self.left)

    @property
    def right_censored(self) -> BoolArray:
        """Return a mask (n,): the rows whose event had not happened when they were last seen."""
        return np.isinf(self.right)


def censored_times(left: ArrayLike, right: ArrayLike) -> CensoredTimes:
    """Return rows (left, right] with the cells that they cover. Times start at 0.

    `right` is inf if the event had not happened. If left and right are equal, the time is exact. Raises
    `IntervalsMalformed` for ends that are missing, negative or in the wrong order, and `ColumnMalformed` for ends that
    are not numbers.

    >>> censored_times([0, 1, 2], [1.5, 3, float("inf")]).cells.tolist()
    [[1.0, 1.5], [2.0, 3.0]]
    """
    low, high = read_numbers(left, "left"), read_numbers(right, "right")
    if low.shape != high.shape or low.ndim != 1:
        raise IntervalsMalformed(fault=f"left has shape {low.shape} and right {high.shape}")
    if np.any(np.isnan(low) | np.isnan(high)) or np.any(low < 0) or np.any(np.isinf(low)):
        raise IntervalsMalformed(fault="every left end must be a number from 0, every right end a number or infinity")
    if np.any(low > high):
        raise IntervalsMalformed(fault="a left end lies beyond its right end")
    exact = low == high
    if np.any(exact & (high == 0)):
        raise IntervalsMalformed(fault="an exact time must be above 0")
    low[exact] = np.nextafter(high[exact], -np.inf)
    # A right end belongs to its row and a left end does not, so of two equal ends the right one comes first.
    ends = np.concatenate([np.unique(high), np.unique(low)])
    is_left = np.concatenate([np.zeros(len(np.unique(high)), bool), np.ones(len(np.unique(low)), bool)])
    order = np.lexsort((is_left, ends))
    ends, is_left = ends[order], is_left[order]
    starts = np.flatnonzero(is_left[:-1] & ~is_left[1:])
    cells = np.column_stack([ends[starts], ends[starts + 1]]) if len(low) else np.empty((0, 2))
    first = np.searchsorted(cells[:, 0], low, side="left")
    last = np.searchsorted(cells[:, 1], high, side="right") - 1
    return CensoredTimes(low, high, cells, first, last)


def require_rows(n: int, *columns: IntArray) -> None:
    """Raise `IntervalsMalformed` unless each column has one entry for each of n rows."""
    if any(np.shape(each) != (n,) for each in columns):
        raise IntervalsMalformed(fault=f"observations and clusters must have one entry for each of {n} rows")


def coded_rows(n: int, observations: Observations) -> Observations:
    """Return the observations of n rows, with codes instead of names.

    Raises `IntervalsMalformed` and `ColumnMalformed`.
    """
    require_rows(n, observations.conversation, observations.annotator)
    conversation = read_codes(observations.conversation, "conversation").code
    if observations.members is not None:
        return Observations(conversation, observations.annotator, observations.members)
    return Observations(conversation, read_codes(observations.annotator, "annotator").code)
