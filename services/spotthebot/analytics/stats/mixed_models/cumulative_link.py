"""The cumulative link mixed model of ratings on an ordered scale, as `ordinal::clmm` fits it."""

from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.mixed_models.design import Design, why_not
from spotthebot.analytics.stats.mixed_models.laplace import Likelihood
from spotthebot.analytics.stats.mixed_models.results import FORM, Fit, MixedModel, model_of
from spotthebot.analytics.stats.rating_estimates import Ratings
from spotthebot.statistics.adjustment import Adjustment

METHOD: Final = f"cumulative link mixed model (logit, Laplace's approximation), {FORM}"
MAX_CATEGORIES: Final = 101
"""More thresholds than this are slow; a scale with so many points is a matter for the linear model."""
_START: Final = 0.5
_LARGEST: Final = 30.0
"""A standard deviation of intercepts on the logit scale that no study has: it grows without bound."""
_WIDE: Final = 50.0
_LOG_GAPS: Final = (-15.0, 4.0)
"""Of adjacent thresholds. A smaller gap would vanish between thresholds of double precision."""
_ZERO: Final = 1e-3
_STEP: Final = 1e-4
_NEWTON_STEPS: Final = 20
_CONVERGED: Final = 1e-9
_DIVERGED: Final = "the fit did not converge"


def cumulative_link_mixed_model(
    ratings: Ratings, *, confidence_level: float = 0.95, adjustment: Adjustment = Adjustment.HOLM
) -> MixedModel:
    """Fit logit P(rating <= category) = threshold - bot - dialogue - annotator, with normal random intercepts.

    Thresholds are flexible: only the order of the ratings counts, and categories without ratings are left out. With two
    categories, it is a logistic mixed model. Maximises Laplace's approximation of the likelihood (`laplace`); standard
    errors are from its second derivatives by all parameters. A positive effect means higher ratings. Tests are Wald's
    z, as ordinal prints it (without degrees of freedom); see `results` on what they promise. Raises
    `SettingOutOfRange`.

    >>> bot, item, annotator = (each.ravel() for each in np.meshgrid(range(2), range(3), range(4), indexing="ij"))
    >>> values = np.array([1, 2, 2, 3, 2, 2, 4, 3, 1, 3, 3, 3, 3, 3, 4, 5, 2, 4, 4, 4, 4, 5, 5, 5])
    >>> found = cumulative_link_mixed_model(Ratings(("A", "B"), bot, 3 * bot + item, annotator, values))
    >>> found.categories, found.pairs[0].estimate < 0
    ((1.0, 2.0, 3.0, 4.0, 5.0), True)
    """
    categories, category = np.unique(ratings.value, return_inverse=True)
    reason = why_not(ratings) or _why_not(ratings, categories, category)
    fit = _fit(ratings, categories, category) if reason is None else reason
    return model_of(ratings, fit, confidence_level=confidence_level, adjustment=adjustment, method=METHOD)


def _why_not(ratings: Ratings, categories: FloatArray, category: IntArray) -> str | None:
    """Return why thresholds and effects have no estimates.

    They are infinite if some of them can move apart from the others without making a rating less likely. An example are
    ratings of 1 to 3 of all bots but one, and of 3 to 5 of that one. A bot with ratings below and above a category
    keeps the category's two thresholds together.
    """
    if len(categories) > MAX_CATEGORIES:
        return f"the ratings have {len(categories):,} different values; this form takes {MAX_CATEGORIES} at most"
    lowest, highest = np.full(len(ratings.bots), len(categories)), np.full(len(ratings.bots), -1)
    np.minimum.at(lowest, ratings.bot, category)
    np.maximum.at(highest, ratings.bot, category)
    for bot, low, high in zip(ratings.bots, lowest.tolist(), highest.tolist(), strict=True):
        if low == high and low in (0, len(categories) - 1):
            return f"all ratings of {bot} are {categories[low]:g}, at an end of the scale, so its effect is infinite"
    for at in range(1, len(categories) - 1):
        if not np.any((lowest < at) & (at < highest)):
            return f"no bot has ratings both below and above {categories[at]:g}, so effects are infinite"
    return None


def _fit(ratings: Ratings, categories: FloatArray, category: IntArray) -> Fit | str:
    """Return the fit, or the reason why there is none."""
    likelihood = Likelihood.of(Design.of(ratings), category)
    found = _maximum(likelihood)
    if isinstance(found, str):
        return found
    parameters, covariance = found
    thresholds, effects, deviations = likelihood.split(parameters)
    m, k = likelihood.n_thresholds, len(likelihood.design.rated)
    effects = np.concatenate([[0.0], effects])
    of_effects = np.zeros((k, k))
    of_effects[1:, 1:] = covariance[m : m + k - 1, m : m + k - 1]
    centred = np.eye(k) - 1 / k
    value, _ = likelihood.at(parameters)
    return Fit(
        rated=likelihood.design.rated,
        effects=centred @ effects,
        covariance=centred @ of_effects @ centred,
        components=likelihood.design.components(deviations),
        log_likelihood=-value,
        categories=tuple(categories.tolist()),
        thresholds=tuple((thresholds - effects.mean()).tolist()),
    )


def _maximum(likelihood: Likelihood) -> tuple[FloatArray, FloatArray] | str:
    """Return the parameters with their covariance, or the reason why there are none.

    L-BFGS-B searches by the logs of the gaps between thresholds, which so keep their order. Newton's method ends the
    search. A deviation at 0 is fixed there: its derivative is 0, and 0 is a minimum if the second derivative is not
    negative.
    """
    shares = np.cumsum(np.bincount(likelihood.category))[:-1] / len(likelihood.category)
    first = np.concatenate([scipy.special.logit(shares), np.zeros(len(likelihood.design.rated) - 1), [_START, _START]])
    parameters = _search(likelihood, first)
    for _ in range(_NEWTON_STEPS):
        parameters[-2:] = np.where(parameters[-2:] < _ZERO, 0.0, parameters[-2:])
        if parameters[-2:].max() >= _LARGEST:
            return "the ratings of a dialogue or annotator are so alike that the deviation grows without bound"
        hessian = _hessian(likelihood, parameters)
        free = np.append(np.ones(len(parameters) - 2, dtype=np.bool_), parameters[-2:] > 0)
        grows = ~free & (np.diag(hessian) < 0)
        if grows.any():
            parameters = _search(likelihood, np.where(grows, _START / 5, parameters))
            continue
        used = hessian[np.ix_(free, free)]
        if np.linalg.eigvalsh(used)[0] <= 0:
            return _DIVERGED
        slope = likelihood.at(parameters)[1][free]
        step = np.linalg.solve(used, slope)
        parameters = parameters.copy()
        parameters[free] -= step
        if np.any(np.diff(likelihood.split(parameters)[0]) <= 0):
            return _DIVERGED
        if slope @ step < _CONVERGED:
            covariance = np.zeros_like(hessian)
            covariance[np.ix_(free, free)] = np.linalg.inv(used)
            return parameters, covariance
    return _DIVERGED


def _search(likelihood: Likelihood, start: FloatArray) -> FloatArray:
    m = likelihood.n_thresholds

    def natural(moved: FloatArray) -> FloatArray:
        found = moved.copy()
        found[1:m] = np.exp(moved[1:m])
        found[:m] = np.cumsum(found[:m])
        return found

    def objective(moved: FloatArray) -> tuple[float, FloatArray]:
        value, slope = likelihood.at(natural(moved))
        slope[:m] = np.cumsum(slope[:m][::-1])[::-1]
        slope[1:m] *= np.exp(moved[1:m])
        return value, slope

    moved = start.copy()
    moved[1:m] = np.log(np.diff(start[:m]))
    bounds = [(-_WIDE, _WIDE), *[_LOG_GAPS] * (m - 1), *[(-_WIDE, _WIDE)] * (len(start) - 2 - m), *[(0, _LARGEST)] * 2]
    found = scipy.optimize.minimize(
        objective,
        moved,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"ftol": 1e-12, "gtol": 1e-5, "maxiter": 500},
    )
    return natural(np.asarray(found.x, dtype=np.float64))


def _hessian(likelihood: Likelihood, parameters: FloatArray) -> FloatArray:
    """Return second derivatives by central differences of the exact derivatives."""
    columns = []
    gaps = np.diff(likelihood.split(parameters)[0])
    step = min(_STEP, float(gaps.min(initial=1.0)) / 4)
    for at in range(len(parameters)):
        move = np.zeros(len(parameters))
        move[at] = step
        columns.append((likelihood.at(parameters + move)[1] - likelihood.at(parameters - move)[1]) / (2 * step))
    found = np.array(columns)
    symmetric: FloatArray = (found + found.T) / 2
    return symmetric
