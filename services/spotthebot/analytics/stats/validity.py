"""How far one measure tells another: rank correlation, and the shares that linear and logistic models explain."""

from dataclasses import dataclass
from itertools import permutations
from typing import Final

import numpy as np
import scipy
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.bootstrap import defined
from spotthebot.analytics.stats.errors import SettingOutOfRange

_MAX_PERMUTED: Final = 8
_ITERATIONS: Final = 100


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's rho of n pairs; None with a `reason` where one side does not vary or there are fewer than three."""

    estimate: float | None
    p_value: float | None
    n: int
    method: str
    reason: str | None


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


def rank_correlation(first: ArrayLike, second: ArrayLike) -> RankCorrelation:
    """Correlate ranks; with up to 8 pairs p is exact, from all orders, since Student's t is far off with so few.

    >>> found = rank_correlation([1, 2, 3, 4, 5, 6], [2, 1, 3, 4, 6, 5])
    >>> round(found.estimate, 4), round(found.p_value, 4)  # 24 of 720 orders are as far from 0
    (0.8857, 0.0333)
    """
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise SettingOutOfRange(setting="first and second", allowed="of one length", value=f"{x.shape}, {y.shape}")
    n = len(x)
    if n < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        reason = "fewer than three pairs" if n < 3 else "one side does not vary"
        return RankCorrelation(None, None, n, "Spearman", reason)
    ranks_x, ranks_y = scipy.stats.rankdata(x), scipy.stats.rankdata(y)
    rho = float(np.corrcoef(ranks_x, ranks_y)[0, 1])
    if n > _MAX_PERMUTED:
        return RankCorrelation(rho, float(scipy.stats.spearmanr(x, y).pvalue), n, "Spearman, Student's t", None)
    orders = np.array(list(permutations(ranks_y - ranks_y.mean())))
    spread = np.sqrt(np.sum((ranks_x - ranks_x.mean()) ** 2) * np.sum((ranks_y - ranks_y.mean()) ** 2))
    found = np.abs(orders @ (ranks_x - ranks_x.mean())) / spread
    return RankCorrelation(rho, float(np.mean(found >= abs(rho) - 1e-9)), n, "Spearman, exact", None)


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
