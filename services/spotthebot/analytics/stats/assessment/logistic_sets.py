"""Fits logistic regressions of one outcome on many sets of measures at once, each by Newton's method.

The coefficients of all sets are the rows of one matrix; they are 0 for measures outside of a set. So linear predictors,
slopes and information of all sets are three matrix products. The third one multiplies the weights by the products of
every two measures.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import FloatArray, IntArray

_NUMBERS_AT_ONCE: Final = 4_000_000
_ITERATIONS: Final = 50
_SMALL_GAIN: Final = 1e-6
"""Newton's method squares gains: after a step that gains less, the likelihood is at its maximum to twelve digits."""
_ROUNDING: Final = 1e-10
_RIDGE: Final = 1e-11


@dataclass(frozen=True, eq=False)
class LogisticSets:
    """An outcome (n,) of 0 and 1, and measures as rows (p, n), with or without an intercept.

    The values of measures are at most 1.
    """

    outcome: FloatArray
    measures: FloatArray
    intercept: bool

    def null(self) -> float:
        """Return the log-likelihood of the model without measures."""
        share = float(self.outcome.mean()) if self.intercept else 0.5
        successes, n = float(self.outcome.sum()), len(self.outcome)
        return float(scipy.special.xlogy(successes, share) + scipy.special.xlogy(n - successes, 1 - share))

    def likelihood(self, sets: IntArray, coefficients: FloatArray) -> FloatArray:
        """Return the log-likelihood (sets,) of each set at its coefficients (sets, q).

        The first one is the intercept.
        """
        found = np.empty(len(sets))
        for rows in self._parts(len(sets)):
            found[rows] = self._likelihood(self._levels(self._columns(sets[rows]), coefficients[rows]))
        return found

    def fit(self, sets: IntArray, start: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log-likelihood (sets,) and the coefficients (sets, q) of sets (sets, s).

        The search begins at `start`.
        """
        found, coefficients = np.empty(len(sets)), np.empty(start.shape)
        for rows in self._parts(len(sets)):
            found[rows], coefficients[rows] = self._maximised(self._columns(sets[rows]), start[rows])
        return found, coefficients

    def inverse_information(self, sets: IntArray, coefficients: FloatArray) -> FloatArray:
        """Return the inverse of the information (sets, q, q) at these coefficients."""
        q = coefficients.shape[1]
        found = np.empty((len(sets), q, q))
        for rows in self._parts(len(sets)):
            columns = self._columns(sets[rows])
            chance = scipy.special.expit(self._levels(columns, coefficients[rows]))
            found[rows] = np.linalg.inv(self._information(columns, chance))
        return found

    @cached_property
    def _rows(self) -> FloatArray:
        return np.vstack([np.ones(len(self.outcome)), self.measures]) if self.intercept else self.measures

    def _parts(self, n_sets: int) -> Iterator[slice]:
        step = max(1, _NUMBERS_AT_ONCE // max(len(self.outcome), 1))
        yield from (slice(at, at + step) for at in range(0, n_sets, step))

    def _columns(self, sets: IntArray) -> IntArray:
        return np.insert(sets + 1, 0, 0, axis=1) if self.intercept else sets

    def _levels(self, columns: IntArray, coefficients: FloatArray) -> FloatArray:
        spread = np.zeros((len(columns), len(self._rows)))
        np.put_along_axis(spread, columns, coefficients, axis=1)
        return np.asarray(spread @ self._rows)

    def _maximised(self, columns: IntArray, start: FloatArray) -> tuple[FloatArray, FloatArray]:
        coefficients, level = start, self._levels(columns, start)
        likelihood = self._likelihood(level)
        for _ in range(_ITERATIONS):
            chance = scipy.special.expit(level)
            gradient = np.take_along_axis((self.outcome - chance) @ self._rows.T, columns, axis=1)
            step = np.linalg.solve(self._information(columns, chance), gradient[:, :, None])[:, :, 0]
            moved = coefficients + step
            moved_level = self._levels(columns, moved)
            moved_likelihood = self._likelihood(moved_level)
            for _ in range(_ITERATIONS):
                worse = moved_likelihood < likelihood - _ROUNDING
                if not worse.any():
                    break
                moved[worse] = (moved[worse] + coefficients[worse]) / 2
                moved_level[worse] = self._levels(columns[worse], moved[worse])
                moved_likelihood[worse] = self._likelihood(moved_level[worse])
            coefficients, level, likelihood = moved, moved_level, moved_likelihood
            if np.all(np.sum(gradient * step, axis=1) < _SMALL_GAIN):
                break
        return likelihood, coefficients

    def _likelihood(self, level: FloatArray) -> FloatArray:
        beyond = np.log1p(np.exp(-np.abs(level)))
        return np.asarray(level @ self.outcome - np.maximum(level, 0).sum(axis=1) - beyond.sum(axis=1))

    def _information(self, columns: IntArray, chance: FloatArray) -> FloatArray:
        """Return the information (sets, q, q).

        A small number is added to its diagonal, in case measures are dependent.
        """
        rows, weights = self._rows, chance * (1 - chance)
        one, other = np.triu_indices(len(rows))
        place = np.zeros((len(rows), len(rows)), dtype=np.int64)
        place[one, other] = place[other, one] = np.arange(len(one))
        sums = np.zeros((len(columns), len(one)))
        step = max(1, _NUMBERS_AT_ONCE // len(one))
        for at in range(0, rows.shape[1], step):
            part = rows[:, at : at + step]
            sums += weights[:, at : at + step] @ (part[one] * part[other]).T
        places = place[columns[:, :, None], columns[:, None, :]]
        found = sums[np.arange(len(columns))[:, None, None], places]
        diagonal = np.einsum("bii->bi", found)
        diagonal += _RIDGE * np.maximum(diagonal.max(axis=1, keepdims=True), 1.0)
        return np.asarray(found)
