"""Correlations of scores with human ratings: Spearman's, Kendall's and Pearson's, given length and beside it."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt
import scipy

from spotthebot.fed.stats.jackknife import BoolArray, FloatArray, IntArray, dialogue_groups, jackknife_error
from spotthebot.statistics.errors import ColumnsDiffer, LevelOutOfRange
from spotthebot.statistics.rank_correlation import rank_correlation

_FEW_PAIRS: Final = "fewer than three pairs"
_CONSTANT: Final = "one side does not vary"
_PERFECT: Final = "every rank is the other's: no interval"
_NO_ERROR: Final = "fewer than three dialogues, or one that all hangs on: no interval"
_ROUNDING: Final = 1e-12
"""A correlation as near to 1 as this is 1."""
_LEFT_OUT: Final = "dialogues left out in turn"
_FISHER: Final = f"Fisher's z, {_LEFT_OUT}"


class CorrelationKind(StrEnum):
    """Spearman's rho, Kendall's tau-b, or Pearson's r."""

    SPEARMAN = "spearman"
    KENDALL = "kendall"
    PEARSON = "pearson"


@dataclass(frozen=True)
class Correlation:
    """A correlation of n items, or a difference of two; None where undefined, with a `reason`."""

    estimate: float | None
    low: float | None
    high: float | None
    confidence_level: float
    p_value: float | None
    n: int
    n_dialogues: int
    method: str
    reason: str | None


def correlation(
    scores: npt.ArrayLike,
    ratings: npt.ArrayLike,
    *,
    dialogue: npt.ArrayLike | None = None,
    kind: CorrelationKind = CorrelationKind.SPEARMAN,
    confidence_level: float = 0.95,
) -> Correlation:
    """Correlate scores with ratings; items with a NaN in either are left out.

    `dialogue` names the dialogue of each item; without it each item is one. The interval is that of Fisher's z, its
    standard error from leaving out each dialogue in turn, with Student's t of one degree less than there are dialogues.
    p is exact for Spearman's rho of up to 12 independent items and scipy's of more; where dialogues have several items
    it is that of the interval. Raises ColumnsDiffer, LevelOutOfRange.

    >>> found = correlation([1, 2, 3, 4, 5, 6], [2, 1, 3, 4, 6, 5])
    >>> round(found.estimate, 4), round(found.p_value, 4), found.n_dialogues
    (0.8857, 0.0333, 6)
    """
    (x, y), items = _columns(scores, ratings, dialogue=dialogue)
    answer = _Answer(items, confidence_level, f"{_NAMES[kind]}, {_FISHER}")
    if reason := _undefined(x, y):
        return answer.without(reason)
    coefficient = _COEFFICIENTS[kind]
    interval = _fisher_interval(answer, coefficient(x, y), lambda kept: coefficient(x[kept], y[kept]))
    if items.are_independent:
        interval = replace(interval, p_value=_P_VALUES[kind](x, y))
    return answer.of(coefficient(x, y), interval)


def partial_rank_correlation(
    scores: npt.ArrayLike,
    ratings: npt.ArrayLike,
    lengths: npt.ArrayLike,
    *,
    dialogue: npt.ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> Correlation:
    """Correlate the ranks of scores and ratings at equal length: what the scores say beyond it.

    The first-order partial correlation of the three columns' ranks (Kendall & Stuart 1973, section 27.5). Items,
    intervals and errors are those of `correlation`; p is that of the interval.

    >>> found = partial_rank_correlation([1, 2, 3, 4, 5], [2, 1, 4, 3, 5], [5, 3, 1, 2, 4])
    >>> round(found.estimate, 4)  # (.8 - .3 * .2) / sqrt(.91 * .96)
    0.7917
    """
    (x, y, z), items = _columns(scores, ratings, lengths, dialogue=dialogue)
    answer = _Answer(items, confidence_level, f"Spearman given length, {_FISHER}")
    if reason := _undefined(x, y) or _undefined(y, z):
        return answer.without(reason)
    estimate = _partial(x, y, z)
    if math.isnan(estimate):
        return answer.without("length says all of one side")
    return answer.of(estimate, _fisher_interval(answer, estimate, lambda kept: _partial(x[kept], y[kept], z[kept])))


def lead_over_length(
    scores: npt.ArrayLike,
    ratings: npt.ArrayLike,
    lengths: npt.ArrayLike,
    *,
    dialogue: npt.ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> Correlation:
    """Return by how much scores correlate better with ratings than length does: rho less rho, below 0 where worse.

    Both correlations share the ratings, so the interval is that of the difference: its standard error from leaving
    out each dialogue in turn, with Student's t; p is that of the interval.

    >>> lead_over_length([1, 2, 3, 4, 5], [2, 1, 4, 3, 5], [5, 3, 1, 2, 4]).estimate.__round__(9)  # .8 - -.2
    1.0
    """
    (x, y, z), items = _columns(scores, ratings, lengths, dialogue=dialogue)
    answer = _Answer(items, confidence_level, f"difference of Spearman's rho, {_LEFT_OUT}")
    if reason := _undefined(x, y) or _undefined(y, z):
        return answer.without(reason)

    def lead(kept: BoolArray) -> float:
        return _spearman(x[kept], y[kept]) - _spearman(z[kept], y[kept])

    estimate = lead(np.ones(len(x), dtype=np.bool_))
    interval = _interval(answer, estimate, lead)
    if interval.low is not None and interval.high is not None:
        interval = replace(interval, low=max(interval.low, -2.0), high=min(interval.high, 2.0))
    return answer.of(estimate, interval)


@dataclass(frozen=True)
class _Items:
    """How many items in how many dialogues, and the group that each item is left out with."""

    n: int
    n_dialogues: int
    groups: IntArray

    @property
    def are_independent(self) -> bool:
        return self.n == self.n_dialogues


@dataclass(frozen=True)
class _Interval:
    low: float | None
    high: float | None
    p_value: float | None
    reason: str | None


class _Answer:
    """What all results of one call share."""

    def __init__(self, items: _Items, confidence_level: float, method: str) -> None:
        if not 0 < confidence_level < 1:
            raise LevelOutOfRange(value=confidence_level)
        self.items, self.confidence_level, self._method = items, confidence_level, method

    def of(self, estimate: float | None, interval: _Interval) -> Correlation:
        return Correlation(
            estimate=estimate,
            low=interval.low,
            high=interval.high,
            confidence_level=self.confidence_level,
            p_value=interval.p_value,
            n=self.items.n,
            n_dialogues=self.items.n_dialogues,
            method=self._method,
            reason=interval.reason,
        )

    def without(self, reason: str) -> Correlation:
        return self.of(None, _Interval(None, None, None, reason))


def _fisher_interval(answer: _Answer, estimate: float, statistic: Callable[[BoolArray], float]) -> _Interval:
    if abs(estimate) >= 1:
        return _Interval(None, None, None, _PERFECT)
    found = _interval(answer, math.atanh(estimate), lambda kept: _atanh(statistic(kept)))
    if found.low is None or found.high is None:
        return found
    return replace(found, low=math.tanh(found.low), high=math.tanh(found.high))


def _interval(answer: _Answer, estimate: float, statistic: Callable[[BoolArray], float]) -> _Interval:
    error, n_groups = jackknife_error(statistic, answer.items.groups)
    if not (math.isfinite(error) and error > 0):
        return _Interval(None, None, None, _NO_ERROR)
    reach = float(scipy.stats.t.ppf((1 + answer.confidence_level) / 2, n_groups - 1)) * error
    p_value = 2 * float(scipy.stats.t.sf(abs(estimate) / error, n_groups - 1))
    return _Interval(estimate - reach, estimate + reach, p_value, None)


def _columns(*columns: npt.ArrayLike, dialogue: npt.ArrayLike | None) -> tuple[list[FloatArray], _Items]:
    """Return the columns without items that have a NaN, and how their items belong together."""
    arrays = [np.asarray(column, dtype=np.float64) for column in columns]
    own = np.arange(arrays[0].size) if dialogue is None else np.asarray(dialogue)
    for each in (*arrays, own):
        if each.ndim != 1 or each.shape != arrays[0].shape:
            raise ColumnsDiffer(first=arrays[0].shape, second=each.shape)
    kept = ~np.isnan(np.array(arrays)).any(axis=0)
    n = int(kept.sum())
    return [each[kept] for each in arrays], _Items(n, len(np.unique(own[kept])), dialogue_groups(own[kept], n))


def _undefined(x: FloatArray, y: FloatArray) -> str | None:
    if len(x) < 3:
        return _FEW_PAIRS
    return _CONSTANT if np.ptp(x) == 0 or np.ptp(y) == 0 else None


def _atanh(value: float) -> float:
    return math.atanh(value) if abs(value) < 1 else math.nan


def _pearson(x: FloatArray, y: FloatArray) -> float:
    x, y = x - x.mean(), y - y.mean()
    spread = math.sqrt(float(x @ x)) * math.sqrt(float(y @ y))
    value = float(x @ y) / spread if spread else math.nan
    return math.copysign(1.0, value) if abs(value) > 1 - _ROUNDING else value


def _spearman(x: FloatArray, y: FloatArray) -> float:
    return _pearson(scipy.stats.rankdata(x), scipy.stats.rankdata(y))


def _kendall(x: FloatArray, y: FloatArray) -> float:
    return float(scipy.stats.kendalltau(x, y).statistic)


def _partial(x: FloatArray, y: FloatArray, z: FloatArray) -> float:
    xy, xz, yz = _spearman(x, y), _spearman(x, z), _spearman(y, z)
    left = math.sqrt((1 - xz**2) * (1 - yz**2))
    return max(-1.0, min(1.0, (xy - xz * yz) / left)) if left else math.nan


_NAMES: Final = {
    CorrelationKind.SPEARMAN: "Spearman",
    CorrelationKind.KENDALL: "Kendall's tau-b",
    CorrelationKind.PEARSON: "Pearson",
}
_COEFFICIENTS: Final[dict[CorrelationKind, Callable[[FloatArray, FloatArray], float]]] = {
    CorrelationKind.SPEARMAN: _spearman,
    CorrelationKind.KENDALL: _kendall,
    CorrelationKind.PEARSON: _pearson,
}
_P_VALUES: Final[dict[CorrelationKind, Callable[[FloatArray, FloatArray], float | None]]] = {
    CorrelationKind.SPEARMAN: lambda x, y: rank_correlation(x, y).p_value,
    CorrelationKind.KENDALL: lambda x, y: float(scipy.stats.kendalltau(x, y).pvalue),
    CorrelationKind.PEARSON: lambda x, y: float(scipy.stats.pearsonr(x, y).pvalue),
}
