"""How far one measure tells another: the shares that linear and logistic models explain."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.bootstrap import defined
from spotthebot.analytics.stats.errors import SettingOutOfRange

_ITERATIONS: Final = 100


@dataclass(frozen=True)
class Explained:
    """What a model of n rows explains: R² (linear) or McFadden's pseudo-R² (logistic), and the adjusted one.

    The adjustment takes off for `predictors`, the intercept not counted. None with a `reason` where undefined.
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
    """Return R² of least squares of the outcome (n,) on predictors (n, p), an intercept added.

    >>> linear_r2([1.0, 2.0, 4.0], [[0.0], [1.0], [2.0]]).estimate.__round__(4)  # 1 - (1 / 6) / (14 / 3)
    0.9643
    """
    y, design = _design(outcome, predictors)
    n, p = len(y), design.shape[1] - 1
    total = float(np.sum((y - y.mean()) ** 2)) if n else 0.0
    if not total:
        return Explained(None, None, (), None, n, p, "R²", "the outcome does not vary")
    coefficients = np.linalg.lstsq(design, y, rcond=None)[0]
    r2 = 1 - float(np.sum((y - design @ coefficients) ** 2)) / total
    adjusted = 1 - (1 - r2) * (n - 1) / (n - p - 1) if n > p + 1 else None
    return Explained(r2, adjusted, tuple(coefficients.tolist()), None, n, p, "R²", None)


def logistic_r2(outcome: ArrayLike, predictors: ArrayLike) -> Explained:
    """Return McFadden's (1974) pseudo-R² of a logistic regression of 0/1 outcomes (n,) on predictors (n, p).

    1 - LL / LL0, adjusted 1 - (LL - p) / LL0. Separated outcomes, which have no finite estimate, have R² None.

    >>> logistic_r2([0, 1, 0, 1], [[0], [0], [1], [1]]).estimate.__round__(6)  # x tells nothing
    0.0
    """
    y, design = _design(outcome, predictors)
    n, p = len(y), design.shape[1] - 1
    if n and not set(np.unique(y)) <= {0.0, 1.0}:
        raise SettingOutOfRange(setting="outcome", allowed="0 or 1", value="others")
    if not n or np.ptp(y) == 0:
        return Explained(None, None, (), None, n, p, "McFadden's R²", "the outcome does not vary")
    share = float(y.mean())
    null = n * (share * np.log(share) + (1 - share) * np.log(1 - share))
    coefficients = np.zeros(p + 1)
    for _ in range(_ITERATIONS):
        chance = 1 / (1 + np.exp(-np.clip(design @ coefficients, -500, 500)))
        information = (design.T * (chance * (1 - chance))) @ design
        step = np.linalg.lstsq(information, design.T @ (y - chance), rcond=None)[0]
        coefficients = coefficients + step
        if np.abs(step).max() < 1e-12:
            break
    predictor = design @ coefficients
    if np.abs(predictor).max() > 30:
        return Explained(None, None, (), None, n, p, "McFadden's R²", "the outcomes are separated")
    likelihood = float(np.sum(y * predictor - np.logaddexp(0, predictor)))
    return Explained(
        estimate=defined(1 - likelihood / null),
        adjusted=defined(1 - (likelihood - p) / null),
        coefficients=tuple(coefficients.tolist()),
        log_likelihood=likelihood,
        n=n,
        predictors=p,
        method="McFadden's R²",
        reason=None,
    )


def _design(outcome: ArrayLike, predictors: ArrayLike) -> tuple[FloatArray, FloatArray]:
    y, x = np.asarray(outcome, dtype=np.float64), np.asarray(predictors, dtype=np.float64)
    if y.ndim != 1 or x.ndim != 2 or len(x) != len(y):
        raise SettingOutOfRange(setting="predictors", allowed=f"of shape ({len(y)}, p)", value=x.shape)
    return y, np.column_stack([np.ones(len(y)), x])
