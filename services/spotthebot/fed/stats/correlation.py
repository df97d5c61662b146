"""Correlations of scores with people's ratings (Spearman, Kendall, Pearson), compared with correlations of length."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt
import scipy

from spotthebot.fed.stats.samples import Ratings, Rows, Sample, sample_of
from spotthebot.fed.stats.spreads import Spread, Statistic, spreads
from spotthebot.statistics.arrays import FloatArray
from spotthebot.statistics.columns import unit_of
from spotthebot.statistics.errors import KindUnknown, require_confidence_level
from spotthebot.statistics.rank_correlation import MAX_EXACT, kendall_p_value, rank_correlation

_FEW_PAIRS: Final = "fewer than three pairs"
_CONSTANT: Final = "one side does not vary"
_PERFECT: Final = "every rank is the other's: no interval"
_ALL_LENGTH: Final = "length says all of one side"
_ROUNDING: Final = 1e-12
"""A correlation this close to 1 counts as 1."""


class CorrelationKind(StrEnum):
    """Spearman's rho, Kendall's tau-b, or Pearson's r."""

    SPEARMAN = "spearman"
    KENDALL = "kendall"
    PEARSON = "pearson"


@dataclass(frozen=True)
class Correlation:
    """The correlation of n items, or the difference of two correlations; None with a `reason` if it is undefined.

    `n_annotators` is None if the raters are unknown: the interval then treats the ratings as fixed. The interval and
    its p-value use Student's t with `degrees_of_freedom`.
    """

    estimate: float | None
    low: float | None
    high: float | None
    confidence_level: float
    p_value: float | None
    n: int
    n_dialogues: int
    n_annotators: int | None
    degrees_of_freedom: float | None
    method: str
    reason: str | None


@dataclass(frozen=True)
class BesideLength:
    """The correlations of scores with ratings, for comparison with the correlations of text lengths with ratings."""

    spearman: Correlation
    kendall: Correlation
    length: Correlation
    given_length: Correlation
    lead: Correlation


def correlation(
    scores: npt.ArrayLike,
    ratings: Ratings,
    *,
    dialogue: npt.ArrayLike | None = None,
    kind: CorrelationKind = CorrelationKind.SPEARMAN,
    confidence_level: float = 0.95,
) -> Correlation:
    """Return the correlation of scores (n,) with ratings. Items without a score or without a rating (NaN) are left out.

    `ratings` (n,) has a number for each item, or the ratings by annotator (`annotator_ratings`). `dialogue` names the
    dialogue of each item; without it each item is a dialogue of its own. The interval uses Fisher's z and Student's t.
    Its standard error comes from leaving out each dialogue in turn and, if annotators are known, each annotator. For
    independent items, p-values of Spearman's rho and Kendall's tau are exact for up to 12 items; other p-values of
    independent items are scipy's. If dialogues have several items, or if more than 12 items share annotators, the
    p-value belongs to the interval. Raises ColumnsDiffer, KindUnknown, LevelOutOfRange.

    >>> found = correlation([1, 2, 3, 4, 5, 6], [2, 1, 3, 4, 6, 5])
    >>> round(found.estimate, 4), round(found.p_value, 4), found.n_dialogues
    (0.8857, 0.0333, 6)
    """
    if kind not in tuple(CorrelationKind):
        raise KindUnknown(known=", ".join(CorrelationKind), value=kind)
    (found,) = _answers([_CORRELATIONS[kind]], sample_of(scores, ratings, dialogue=dialogue), confidence_level)
    return found


def partial_rank_correlation(
    scores: npt.ArrayLike,
    ratings: Ratings,
    lengths: npt.ArrayLike,
    *,
    dialogue: npt.ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> Correlation:
    """Return the partial rank correlation of scores and ratings, which removes the influence of length.

    It is the first-order partial correlation of the ranks of scores, ratings and lengths (Kendall & Stuart 1973,
    section 27.5). Items, intervals and errors are the same as in `correlation`. The p-value belongs to the interval.

    >>> found = partial_rank_correlation([1, 2, 3, 4, 5], [2, 1, 4, 3, 5], [5, 3, 1, 2, 4])
    >>> round(found.estimate, 4)  # (.8 - .3 * .2) / sqrt(.91 * .96)
    0.7917
    """
    (found,) = _answers([_GIVEN_LENGTH], sample_of(scores, ratings, lengths, dialogue=dialogue), confidence_level)
    return found


def lead_over_length(
    scores: npt.ArrayLike,
    ratings: Ratings,
    lengths: npt.ArrayLike,
    *,
    dialogue: npt.ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> Correlation:
    """Return the lead over length: Spearman's rho of scores with ratings minus the rho of lengths with ratings.

    It is negative if length correlates better. Both correlations use the same ratings, so the interval is computed for
    the difference itself, with Student's t and the standard error of `correlation`. The p-value belongs to the
    interval.

    >>> lead_over_length([1, 2, 3, 4, 5], [2, 1, 4, 3, 5], [5, 3, 1, 2, 4]).estimate.__round__(9)  # .8 - -.2
    1.0
    """
    (found,) = _answers([_LEAD], sample_of(scores, ratings, lengths, dialogue=dialogue), confidence_level)
    return found


def beside_length(
    scores: npt.ArrayLike,
    ratings: Ratings,
    lengths: npt.ArrayLike,
    *,
    dialogue: npt.ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> BesideLength:
    """Return the results of `correlation`, `partial_rank_correlation` and `lead_over_length`, computed together.

    >>> found = beside_length([1, 2, 3, 4, 5], [2, 1, 4, 3, 5], [5, 3, 1, 2, 4])
    >>> [round(each.estimate, 4) for each in (found.spearman, found.length, found.lead)]
    [0.8, -0.2, 1.0]
    """
    sample = sample_of(scores, ratings, lengths, dialogue=dialogue)
    of_scores = [_CORRELATIONS[kind] for kind in (CorrelationKind.SPEARMAN, CorrelationKind.KENDALL)]
    return BesideLength(*_answers([*of_scores, _OF_LENGTH, _GIVEN_LENGTH, _LEAD], sample, confidence_level))


@dataclass(frozen=True)
class _Coefficient:
    """A statistic of the columns scores (0), ratings (1) and lengths (2), and the method of its intervals.

    `columns` are the columns that must vary. `p_value` tests independent items; without it, the p-value belongs to the
    interval. `bound` is the largest possible value. If `is_correlation`, the interval uses Fisher's z.
    """

    name: str
    statistic: Statistic
    columns: tuple[int, ...]
    p_value: Callable[[FloatArray, FloatArray], float | None] | None = None
    is_correlation: bool = True
    has_exact_p: bool = False

    def on_scale(self, rows: Rows) -> FloatArray:
        """Return the values on the scale on which intervals are symmetrical; NaN if a value would be infinite on it."""
        values = self.statistic(rows)
        if not self.is_correlation:
            return values
        found: FloatArray = np.arctanh(np.where(np.abs(values) < 1, values, np.nan))
        return found


def _answers(coefficients: Sequence[_Coefficient], sample: Sample, confidence_level: float) -> list[Correlation]:
    require_confidence_level(confidence_level)
    found = spreads([each.on_scale for each in coefficients], sample)
    return [_answer(each, sample, spread, confidence_level) for each, spread in zip(coefficients, found, strict=True)]


def _answer(coefficient: _Coefficient, sample: Sample, spread: Spread, confidence_level: float) -> Correlation:
    left_out = "dialogues" if sample.ratings is None else "dialogues and annotators"
    scale = "Fisher's z, " if coefficient.is_correlation else ""
    answer = Correlation(
        estimate=None,
        low=None,
        high=None,
        confidence_level=confidence_level,
        p_value=None,
        n=sample.n,
        n_dialogues=sample.n_dialogues,
        n_annotators=sample.n_annotators,
        degrees_of_freedom=None,
        method=f"{coefficient.name}, {scale}{left_out} left out in turn",
        reason=_undefined([sample.columns[at] for at in coefficient.columns]),
    )
    if answer.reason is not None:
        return answer
    estimate = float(coefficient.statistic(sample.whole)[0])
    if math.isnan(estimate):
        return replace(answer, reason=_ALL_LENGTH)
    answer = replace(answer, estimate=estimate, p_value=_p_value(coefficient, sample))
    if coefficient.is_correlation and abs(estimate) >= 1:
        return replace(answer, reason=_PERFECT)
    if spread.error is None or spread.degrees is None:
        return replace(answer, reason=spread.reason)
    at = float(coefficient.on_scale(sample.whole)[0])
    reach = float(scipy.stats.t.ppf((1 + confidence_level) / 2, spread.degrees)) * spread.error
    low, high = at - reach, at + reach
    if coefficient.is_correlation:
        low, high = math.tanh(low), math.tanh(high)
    p_of_interval = 2 * float(scipy.stats.t.sf(abs(at) / spread.error, spread.degrees))
    return replace(
        answer,
        low=max(low, -2.0),
        high=min(high, 2.0),
        p_value=p_of_interval if answer.p_value is None else answer.p_value,
        degrees_of_freedom=spread.degrees,
    )


def _p_value(coefficient: _Coefficient, sample: Sample) -> float | None:
    """Return the p-value of the test for independent items; None if the p-value of the interval has to be used."""
    if coefficient.p_value is None or sample.n != sample.n_dialogues:
        return None
    if sample.ratings is not None and not (coefficient.has_exact_p and sample.n <= MAX_EXACT):
        return None
    scores, ratings, *_ = sample.columns
    return coefficient.p_value(scores, ratings)


def _undefined(columns: Sequence[FloatArray]) -> str | None:
    if len(columns[0]) < 3:
        return _FEW_PAIRS
    return _CONSTANT if any(np.all(each == each[0]) for each in columns) else None


def _cosines(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the correlations (rows,) between two centred tables (rows, n), row by row."""
    spread = np.sqrt(np.sum(x * x, axis=1)) * np.sqrt(np.sum(y * y, axis=1))
    values = np.divide(np.sum(x * y, axis=1), spread, out=np.full(len(x), np.nan), where=spread > 0)
    found: FloatArray = np.where(np.abs(values) > 1 - _ROUNDING, np.sign(values), values)
    return found


def _spearman(first: int, second: int) -> Statistic:
    return lambda rows: _cosines(rows.ranks(first), rows.ranks(second))


def _kendall(rows: Rows) -> FloatArray:
    x, y = rows.columns[:2]
    found = [
        scipy.stats.kendalltau(own_x[kept], own_y[kept], method="asymptotic").statistic if kept.sum() > 2 else math.nan
        for own_x, own_y, kept in zip(x, y, rows.kept, strict=True)
    ]
    return np.array(found, dtype=np.float64)


def _partial(rows: Rows) -> FloatArray:
    xy, xz, yz = (_spearman(*pair)(rows) for pair in ((0, 1), (0, 2), (1, 2)))
    left = np.sqrt(np.maximum((1 - xz**2) * (1 - yz**2), 0.0))
    values = np.divide(xy - xz * yz, left, out=np.full(len(xy), np.nan), where=left > 0)
    found: FloatArray = np.clip(values, -1.0, 1.0)
    return found


_CORRELATIONS: Final = {
    CorrelationKind.SPEARMAN: _Coefficient(
        "Spearman", _spearman(0, 1), (0, 1), lambda x, y: rank_correlation(x, y).p_value, has_exact_p=True
    ),
    CorrelationKind.KENDALL: _Coefficient("Kendall's tau-b", _kendall, (0, 1), kendall_p_value, has_exact_p=True),
    CorrelationKind.PEARSON: _Coefficient(
        "Pearson",
        lambda rows: _cosines(rows.values(0), rows.values(1)),
        (0, 1),
        lambda x, y: float(scipy.stats.pearsonr(x / unit_of(x), y / unit_of(y)).pvalue),
    ),
}
_OF_LENGTH: Final = _Coefficient(
    "Spearman", _spearman(2, 1), (2, 1), lambda x, y: rank_correlation(x, y).p_value, has_exact_p=True
)
_GIVEN_LENGTH: Final = _Coefficient("Spearman given length", _partial, (0, 1, 2))
_LEAD: Final = _Coefficient(
    "difference of Spearman's rho",
    lambda rows: _spearman(0, 1)(rows) - _spearman(2, 1)(rows),
    (0, 1, 2),
    is_correlation=False,
)
