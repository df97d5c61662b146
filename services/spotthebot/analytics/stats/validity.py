"""How well measures predict another measure: the share of variation that linear and logistic models explain."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.separation import column_rank, is_separated, scaled, standardised
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.columns import read_numbers
from spotthebot.statistics.errors import SettingOutOfRange

_ITERATIONS: Final = 200
_SMALLEST_GAIN: Final = 1e-18
_SURELY_FINITE: Final = 8.0
"""Log odds up to this leave a separated likelihood with a slope that Newton's method would not take for none."""


@dataclass(frozen=True)
class Explained:
    """The share that a model of n rows explains: R² (linear) or McFadden's pseudo-R² (logistic), plain and adjusted.

    The adjustment uses the number `predictors`. It leaves out predictors that other predictors and the intercept
    determine. The first coefficient is the intercept, followed by one for each predictor. Undefined numbers are None,
    with a `reason`.
    """

    estimate: float | None
    adjusted: float | None
    coefficients: tuple[float, ...]
    log_likelihood: float | None
    n: int
    predictors: int
    method: str
    reason: str | None


def linear_r2(outcome: ArrayLike, predictors: ArrayLike) -> Explained:
    """Return R² of least squares of the outcome (n,) on predictors (n, p), with an intercept added.

    Raises `SettingOutOfRange` and `ColumnMalformed`.

    >>> linear_r2([1.0, 2.0, 4.0], [[0.0], [1.0], [2.0]]).estimate.__round__(4)  # 1 - (1 / 6) / (14 / 3)
    0.9643
    """
    data = _Data.of(outcome, predictors)
    n, rank = len(data.outcome), data.rank
    apart, unit = standardised(data.outcome[:, None])
    if not n or not unit[0]:
        return _undefined(data, "R²", "the outcome does not vary")
    total, scaled = float(np.sum(apart**2)), apart[:, 0]
    slopes = np.linalg.lstsq(data.design, scaled, rcond=None)[0]
    r2 = max(1 - float(np.sum((scaled - data.design @ slopes) ** 2)) / total, 0.0)
    return Explained(
        estimate=r2,
        adjusted=1 - (1 - r2) * (n - 1) / (n - rank - 1) if n > rank + 1 else None,
        coefficients=data.coefficients(slopes * unit[0], float(data.outcome.mean())),
        log_likelihood=None,
        n=n,
        predictors=rank,
        method="R²",
        reason=None,
    )


def logistic_r2(outcome: ArrayLike, predictors: ArrayLike, *, intercept: bool = True) -> Explained:
    """Return McFadden's (1974) pseudo-R² of a logistic regression of 0/1 outcomes (n,) on predictors (n, p).

    It is 1 - LL / LL0, and adjusted 1 - (LL - p) / LL0. LL is the log-likelihood of the model, LL0 that of a model
    without predictors. Separated outcomes have no finite estimate, so R² is None. Without `intercept`, as for
    differences within pairs, LL0 is the log-likelihood of even odds, and the intercept's coefficient is 0. Raises
    `SettingOutOfRange` and `ColumnMalformed`.

    >>> logistic_r2([0, 1, 0, 1], [[0], [0], [1], [1]]).estimate.__round__(6)  # x tells nothing
    0.0
    """
    data = _Data.of(outcome, predictors, intercept=intercept)
    y, design, method = data.outcome, data.design, "McFadden's R²"
    if not set(np.unique(y)) <= {0.0, 1.0}:
        raise SettingOutOfRange(setting="outcome", allowed="0 or 1", value="others")
    if not len(y) or (intercept and np.ptp(y) == 0):
        return _undefined(data, method, "the outcome does not vary")
    coefficients = _maximise_likelihood(y, design)
    doubtful = coefficients is None or float(np.abs(design @ coefficients).max()) > _SURELY_FINITE
    if doubtful and is_separated(design, y, np.ones(len(y))):
        return _undefined(data, method, "the outcomes are separated")
    if coefficients is None:
        return _undefined(data, method, "the fit did not find the maximum: leave out predictors")
    share, likelihood = float(y.mean()) if intercept else 0.5, _log_likelihood(y, design @ coefficients)
    null = len(y) * (share * np.log(share) + (1 - share) * np.log(1 - share))
    return Explained(
        estimate=defined(max(1 - likelihood / null, 0.0)),
        adjusted=defined(1 - (likelihood - data.rank) / null),
        coefficients=data.coefficients(coefficients, 0.0),
        log_likelihood=likelihood,
        n=len(y),
        predictors=data.rank,
        method=method,
        reason=None,
    )


@dataclass(frozen=True, eq=False)
class _Data:
    """The outcome (n,), the predictors (n, p) as given, and a design with standardised predictors.

    The first column of the design is the intercept; it is 0 if the model has none.
    """

    outcome: FloatArray
    predictors: FloatArray
    design: FloatArray
    units: FloatArray
    rank: int

    @classmethod
    def of(cls, outcome: ArrayLike, predictors: ArrayLike, *, intercept: bool = True) -> "_Data":
        y, x = read_numbers(outcome, "outcome", finite=True), read_numbers(predictors, "predictors", finite=True)
        if y.ndim != 1 or x.ndim != 2 or len(x) != len(y):
            raise SettingOutOfRange(setting="predictors", allowed=f"of shape ({y.shape}, p)", value=x.shape)
        apart, units = standardised(x) if intercept else scaled(x)
        return cls(y, x, np.column_stack([np.full(len(y), float(intercept)), apart]), units, column_rank(apart))

    def coefficients(self, slopes: FloatArray, centre: float) -> tuple[float, ...]:
        """Return the intercept and the coefficient of each predictor in its own unit."""
        of = np.divide(slopes[1:], self.units, out=np.zeros(len(self.units)), where=self.units > 0)
        has_intercept = bool(self.design[:, 0].any())
        first = float(centre + slopes[0] - of @ self.predictors.mean(axis=0)) if has_intercept else 0.0
        return (first, *of.tolist())


def _undefined(data: _Data, method: str, reason: str) -> Explained:
    return Explained(None, None, (), None, len(data.outcome), data.rank, method, reason)


def _maximise_likelihood(y: FloatArray, design: FloatArray) -> FloatArray | None:
    """Return the coefficients at the maximum, found by Newton's method; None if the maximum is not found."""
    coefficients = np.zeros(design.shape[1])
    likelihood = _log_likelihood(y, design @ coefficients)
    for _ in range(_ITERATIONS):
        chance = scipy.special.expit(design @ coefficients)
        gradient = design.T @ (y - chance)
        step = np.linalg.pinv((design.T * (chance * (1 - chance))) @ design, hermitian=True) @ gradient
        if float(gradient @ step) < _SMALLEST_GAIN:
            return coefficients
        length, moved = 1.0, _log_likelihood(y, design @ (coefficients + step))
        # Near the maximum a step gains less than the likelihood's last digit, and may seem to lose it.
        while moved < likelihood - 1e-12 * (1 + abs(likelihood)) and length > 1e-10:
            length /= 2
            moved = _log_likelihood(y, design @ (coefficients + length * step))
        coefficients, likelihood = coefficients + length * step, moved
    return None


def _log_likelihood(y: FloatArray, predictor: FloatArray) -> float:
    return float(np.sum(y * predictor - np.logaddexp(0, predictor)))
