"""Means of independent observations with Student's interval, and means of the means of dialogues."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.statistics.cells import occurring_cells
from spotthebot.statistics.columns import read_numbers, unit_of
from spotthebot.statistics.distributions import student_quantiles
from spotthebot.statistics.errors import ColumnMalformed

_METHOD: Final = "Student's t"
_ALONE: Final = "there is one value alone"
_ALIKE: Final = "all values are alike, so nothing tells how others would differ"


@dataclass(frozen=True)
class Mean:
    """A mean of `n` observations with Student's bounds.

    The mean is None without observations. The bounds are None if the observations do not vary. `reason` says so.
    """

    estimate: float | None
    low: float | None
    high: float | None
    n: int
    confidence_level: float
    method: str
    reason: str | None


def student_interval(value: npt.ArrayLike, *, confidence_level: float = 0.95) -> Mean:
    """Return the mean of independent values (n,) with Student's bounds (1908).

    The bounds are not confined to a scale: near one of its ends they may exceed it. Raises `SettingOutOfRange` and
    `ColumnMalformed`.

    >>> mean = student_interval([1, 2, 3, 4, 5])  # 3 +- 2.776 * sqrt(2.5 / 5)
    >>> mean.estimate, round(mean.low, 3), round(mean.high, 3)
    (3.0, 1.037, 4.963)
    """
    require_confidence_level(confidence_level)
    column = read_numbers(value, "value", finite=True)
    if column.ndim != 1:
        fault = f"is of shape {column.shape}, not a column of single values"
        raise ColumnMalformed(column="value", row=0, fault=fault)
    n = len(column)
    if not n:
        return Mean(None, None, None, 0, confidence_level, _METHOD, "there are no values")
    unit = unit_of(column)
    scaled = column / unit
    mean = float(scaled.mean())
    if column.min() == column.max():
        return Mean(mean * unit, None, None, n, confidence_level, _METHOD, _ALONE if n == 1 else _ALIKE)
    quantile = float(student_quantiles((1 + confidence_level) / 2, n - 1))
    reach = quantile * float(scaled.std(ddof=1)) / math.sqrt(n)
    return Mean(mean * unit, (mean - reach) * unit, (mean + reach) * unit, n, confidence_level, _METHOD, None)


def means_of_means(bot: IntArray, dialogue: IntArray, value: FloatArray, n_bots: int) -> FloatArray:
    """Return each bot's mean (n_bots,) over dialogues of the mean value of each dialogue; NaN without values.

    Each dialogue has the same weight, however many of the n values are of it.

    >>> dialogue = np.array([0, 0, 0, 1])  # the mean of 2 and 5; the mean of all values is 2.75
    >>> means_of_means(np.zeros(4, dtype=int), dialogue, np.array([1.0, 2, 3, 5]), 1).tolist()
    [3.5]
    """
    cells = occurring_cells(bot, dialogue, value)
    means = cells.weight / np.bincount(cells.entry, minlength=len(cells.weight))
    dialogues = np.bincount(cells.outer, minlength=n_bots)
    totals = np.bincount(cells.outer, weights=means, minlength=n_bots)
    found: FloatArray = np.divide(totals, dialogues, out=np.full(n_bots, np.nan), where=dialogues > 0)
    return found
