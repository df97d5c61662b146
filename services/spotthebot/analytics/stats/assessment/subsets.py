"""Which measures together explain an outcome, and which measures add nothing to them (ABC-Eval, section 7.4).

The method is backward stepwise regression with a beam. It starts with all measures, and removes one after the other. Of
each size, the 100 sets with the highest R² are kept; among sets of one size, adjusted R² has the same order. With up to
twelve measures all sets of each size are kept, so that the best set of each size is certain to be found.

No model is fitted only to compare a candidate. Let C be the inverse of the cross-products of a set's measures, and b
its coefficients. Without measure j, the residual sum of squares grows by b_j² / C_jj (Seber & Lee 2003, section 3.9).
Near its maximum, the log-likelihood of a logistic model is approximately quadratic, and C is the inverse of its
information. The maximum of this quadratic without measure j chooses the sets. Newton's method fits all chosen sets at
once, starting from these maxima.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import Final, Protocol

import numpy as np
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.assessment.importance import Model
from spotthebot.analytics.stats.assessment.logistic_sets import LogisticSets
from spotthebot.analytics.stats.separation import column_rank, scaled, standardised
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.columns import read_numbers
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.whole_numbers import is_whole

BEAM: Final = 100
MAX_MEASURES: Final = 80
"""The whole of ABC-Eval with ratings of chats, FED's scores and latency has 67 measures beside the outcome.

The work grows with the fourth power of their number: 80 take about 10 seconds.
"""
_ALL_OF_TWELVE: Final = comb(12, 6)
_RIDGE: Final = 1e-11
"""Added to correlations on the diagonal: the removal of a measure that others determine then loses nothing."""
_NOTHING: Final = 1e-300
"""The smallest length of a column, so that one that does not vary has no direction."""
_DIGITS: Final = 10
"""Fits that are equal to so many digits are equal but for rounding: the set with the first measures goes before."""


@dataclass(frozen=True)
class Step:
    """The best set of one size: its measures `left`, by their columns, and the measure that was `removed`.

    For a logistic model `r2` and `adjusted_r2` are McFadden's. Of the kept sets that have one more measure and contain
    all of `left`, the best one also contains `removed`.
    """

    left: tuple[int, ...]
    r2: float
    adjusted_r2: float | None
    removed: int | None


@dataclass(frozen=True)
class Stepwise:
    """The best set of each size over n dialogues or pairs, the full model first.

    If there are no steps, `reason` says why.
    """

    steps: tuple[Step, ...]
    n: int
    beam: int
    model: Model
    method: str
    reason: str | None

    @property
    def best(self) -> Step | None:
        """Return the step with the largest adjusted R², in a tie the smallest set; None if no step has one."""
        best = None
        for step in self.steps:
            if step.adjusted_r2 is not None and (best is None or step.adjusted_r2 >= (best.adjusted_r2 or 0.0)):
                best = step
        return best


def backward_stepwise(
    outcome: ArrayLike, measures: ArrayLike, *, model: Model = Model.LINEAR, beam: int = BEAM
) -> Stepwise:
    """Remove measures (n, p), one after the other, from the model of an outcome (n,).

    Raises `SettingOutOfRange` and `ColumnMalformed`.

    >>> measures = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 1.0], [4.0, 0.0]]
    >>> found = backward_stepwise([0.0, 1.0, 2.0, 3.0, 5.0], measures)
    >>> [(step.left, step.removed) for step in found.steps]
    [((0, 1), None), ((0,), 1)]
    """
    model = choice_of("model", model, Model)
    if not is_whole(beam, 1, 10_000):
        raise SettingOutOfRange(setting="beam", allowed="a whole number from 1 to 10,000", value=beam)
    y, x = read_numbers(outcome, "outcome", finite=True), read_numbers(measures, "measures", finite=True)
    if x.ndim != 2 or not 1 <= x.shape[1] <= MAX_MEASURES:
        allowed = f"of shape (n, p), p from 1 to {MAX_MEASURES}"
        raise SettingOutOfRange(setting="measures", allowed=allowed, value=x.shape)
    p = x.shape[1]
    exhaustive = comb(p, p // 2) <= _ALL_OF_TWELVE
    words = "all sets of each size" if exhaustive else f"beam of {beam} sets"
    method = f"{model.words}; backward stepwise, {words}"
    full = model.explained(y, x)
    if full.estimate is None:
        return Stepwise((), len(y), beam, model, method, full.reason)
    search: _Search = _LinearSearch(y, x) if model is Model.LINEAR else _LogisticSearch(y, x, model)
    steps = [Step(tuple(range(p)), full.estimate, full.adjusted, None)]
    for left, fit, removed in _best_sets(search, p, max(beam, _ALL_OF_TWELVE) if exhaustive else beam):
        r2, adjusted = search.explained(left, fit)
        steps.append(Step(tuple(left), r2, adjusted, removed))
    return Stepwise(tuple(steps), len(y), beam, model, method, None)


@dataclass(frozen=True, eq=False)
class _Sets:
    """The m sets of one size. Each row (s,) has the columns of a set; `fit` is (m,), coefficients are (m, q)."""

    columns: IntArray
    fit: FloatArray
    coefficients: FloatArray

    def chosen(self, rows: IntArray) -> "_Sets":
        """Return some of the sets, in the order of `rows`."""
        return _Sets(self.columns[rows], self.fit[rows], self.coefficients[rows])


class _Search(Protocol):
    """Fits the sets of one size. A subclass defines the model."""

    def full(self) -> _Sets:
        """Return the set of all measures."""

    def likely(self, sets: _Sets, columns: IntArray, parent: IntArray, removed: IntArray) -> _Sets:
        """Return the sets `columns` (k, s - 1), each with an estimate of how well it will fit.

        Each set is its `parent` (k,) without the column at the place `removed` (k,).
        """

    def fitted(self, likely: _Sets) -> _Sets:
        """Return the sets, fitted exactly."""

    def explained(self, left: list[int], fit: float) -> tuple[float, float | None]:
        """Return R² and adjusted R² of a set."""


def _best_sets(search: _Search, p: int, keep: int) -> Iterator[tuple[list[int], float, int]]:
    """Yield for each size below p the best set, its fit, and the column that was removed."""
    sets = search.full()
    for size in range(p - 1, 0, -1):
        members = np.zeros((len(sets.fit), p), dtype=np.bool_)
        np.put_along_axis(members, sets.columns, values=True, axis=1)
        members = np.repeat(members, size + 1, axis=0)
        members[np.arange(len(members)), sets.columns.ravel()] = False
        # Of a set with several parents the first occurrence is that of the best.
        first = np.sort(np.unique(np.packbits(members, axis=1), axis=0, return_index=True)[1])
        columns = np.nonzero(members[first])[1].reshape(len(first), size)
        parent, removed = first // (size + 1), first % (size + 1)
        likely = search.likely(sets, columns, parent, removed)
        kept = _descending(likely.fit)[:keep]
        found = search.fitted(likely.chosen(kept))
        order = _descending(found.fit)
        best = kept[order[0]]
        taken = int(sets.columns[parent[best], removed[best]])
        sets = found.chosen(order)
        yield sets.columns[0].tolist(), float(sets.fit[0]), taken


def _descending(fit: FloatArray) -> IntArray:
    return np.argsort(-fit.round(_DIGITS), kind="stable")


class _LinearSearch:
    """Least squares, computed from correlations only. The fit of a set is R²."""

    def __init__(self, outcome: FloatArray, measures: FloatArray) -> None:
        self._outcome, self._measures = outcome, measures
        units = [standardised(each)[0] for each in (measures, outcome[:, None])]
        x, y = (each / np.maximum(np.sqrt(np.sum(each**2, axis=0)), _NOTHING) for each in units)
        self._between, self._with_outcome = x.T @ x, (x.T @ y)[:, 0]

    def full(self) -> _Sets:
        columns = np.arange(self._measures.shape[1])[None, :]
        coefficients = self._inverses(columns) @ self._with_outcome
        return _Sets(columns, coefficients @ self._with_outcome, coefficients)

    def likely(self, sets: _Sets, columns: IntArray, parent: IntArray, removed: IntArray) -> _Sets:
        inverses = self._inverses(sets.columns)
        coefficients = (inverses @ self._with_outcome[sets.columns][:, :, None])[:, :, 0]
        losses = coefficients**2 / np.einsum("bii->bi", inverses)
        return _Sets(columns, sets.fit[parent] - losses[parent, removed], np.empty((len(columns), 0)))

    def fitted(self, likely: _Sets) -> _Sets:
        return likely

    def explained(self, left: list[int], fit: float) -> tuple[float, float | None]:
        found = Model.LINEAR.explained(self._outcome, self._measures[:, left])
        return fit if found.estimate is None else found.estimate, found.adjusted

    def _inverses(self, columns: IntArray) -> FloatArray:
        blocks = self._between[columns[:, :, None], columns[:, None, :]]
        return np.asarray(np.linalg.inv(blocks + _RIDGE * np.eye(columns.shape[1])))


class _LogisticSearch:
    """Logistic models. The fit of a set is the log-likelihood."""

    def __init__(self, outcome: FloatArray, measures: FloatArray, model: Model) -> None:
        units = standardised(measures)[0] if model is Model.LOGISTIC else scaled(measures)[0]
        self._models = LogisticSets(outcome, np.ascontiguousarray(units.T), model is Model.LOGISTIC)

    def full(self) -> _Sets:
        p = len(self._models.measures)
        columns = np.arange(p)[None, :]
        return _Sets(columns, *self._models.fit(columns, np.zeros((1, p + self._models.intercept))))

    def likely(self, sets: _Sets, columns: IntArray, parent: IntArray, removed: IntArray) -> _Sets:
        at, rows = removed + self._models.intercept, np.arange(len(parent))
        inverses = self._models.inverse_information(sets.columns, sets.coefficients)[parent]
        whole = sets.coefficients[parent]
        moved = whole - inverses[rows, :, at] * (whole[rows, at] / inverses[rows, at, at])[:, None]
        kept = np.ones(moved.shape, dtype=np.bool_)
        kept[rows, at] = False
        start = moved[kept].reshape(len(parent), -1)
        return _Sets(columns, self._models.likelihood(columns, start), start)

    def fitted(self, likely: _Sets) -> _Sets:
        return _Sets(likely.columns, *self._models.fit(likely.columns, likely.coefficients))

    def explained(self, left: list[int], fit: float) -> tuple[float, float | None]:
        null, rank = self._models.null(), column_rank(self._models.measures[left].T)
        return max(1 - fit / null, 0.0), 1 - (fit - rank) / null
