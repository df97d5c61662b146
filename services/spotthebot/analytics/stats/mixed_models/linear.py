"""The linear mixed model of ratings, by restricted maximum likelihood (REML), as `lme4::lmer` fits it."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.mixed_models.crossed_intercepts import Penalised
from spotthebot.analytics.stats.mixed_models.design import Design, why_not
from spotthebot.analytics.stats.mixed_models.results import FORM, Fit, MixedModel, VarianceComponent, model_of
from spotthebot.analytics.stats.rating_estimates import Ratings
from spotthebot.statistics.adjustment import Adjustment
from spotthebot.statistics.columns import unit_of

METHOD: Final = f"linear mixed model (REML), {FORM}"
_STARTS: Final = ((1.0, 1.0), (0.1, 0.1))
_LARGEST: Final = 1e3
"""A standard deviation of intercepts this many times that of the residuals: nothing is left for residuals."""
_ZERO: Final = 1e-6
_FLAT: Final = 1e-3
"""The largest derivative of the deviance at its minimum, as `lme4` warns beyond .002."""
_ROUNDING: Final = 1e-9
_NO_RESIDUAL: Final = "bots, dialogues and annotators explain all ratings exactly, so no residual is left"


def linear_mixed_model(
    ratings: Ratings, *, confidence_level: float = 0.95, adjustment: Adjustment = Adjustment.HOLM
) -> MixedModel:
    """Fit value = bot + dialogue + annotator + residual. Dialogues and annotators have normal random intercepts.

    Minimises the profiled REML deviance of Bates et al. (2015), Fitting linear mixed-effects models using lme4,
    equation 42, by the two standard deviations over that of the residuals. Effects are expected ratings of the bots.
    Tests are Wald's z, as lme4 prints it (without degrees of freedom); see `results` on what they promise. Raises
    `SettingOutOfRange`.

    >>> bot, item, annotator = (each.ravel() for each in np.meshgrid(range(2), range(3), range(4), indexing="ij"))
    >>> values = np.array([1, 2, 2, 3, 2, 2, 4, 3, 1, 3, 3, 3, 3, 3, 4, 5, 2, 4, 4, 4, 4, 5, 5, 5])
    >>> found = linear_mixed_model(Ratings(("A", "B"), bot, 3 * bot + item, annotator, values))
    >>> [round(each.estimate, 4) for each in found.bots]  # balanced: the means, 29 / 12 and 4
    [2.4167, 4.0]
    """
    reason = why_not(ratings)
    fit = _fit(ratings) if reason is None else reason
    return model_of(ratings, fit, confidence_level=confidence_level, adjustment=adjustment, method=METHOD)


@dataclass(frozen=True, eq=False)
class _Profile:
    """The parts of the profiled deviance at two standard deviations over that of the residuals."""

    deviance: float
    slope: FloatArray
    beta: FloatArray
    precision: FloatArray
    squares: float


@dataclass(frozen=True, eq=False)
class _Reml:
    """Sums of the rows. R has the bots' indicators and the values as columns: `products` is R'R, `sums` is Z'R."""

    design: Design
    table: FloatArray
    counts: FloatArray
    sums: FloatArray
    products: FloatArray

    @classmethod
    def of(cls, design: Design, value: FloatArray) -> "_Reml":
        ones = np.ones(len(value))
        of_bots = design.of_bots(value)
        products = np.block(
            [[np.diag(design.of_bots(ones)), of_bots[:, None]], [of_bots[None, :], np.array([[value @ value]])]]
        )
        sums = np.column_stack([design.of_bots_and_groups(ones), design.groups.sums(value)])
        return cls(design, design.groups.table(ones), design.groups.sums(ones), sums, products)

    def at(self, deviations: FloatArray) -> _Profile:
        """Return the deviance with its derivatives by the deviations (2,), each of which may be 0."""
        groups, degrees = self.design.groups, int(self.counts.sum()) // 2 - len(self.design.rated)
        scale = groups.of_groups(deviations)[:, None]
        matrix = Penalised.of(self.table, deviations)
        solved = matrix.solve(scale * self.sums)
        left = self.products - (scale * self.sums).T @ solved
        factor = scipy.linalg.cho_factor(left[:-1, :-1], lower=True)
        beta = scipy.linalg.cho_solve(factor, left[:-1, -1])
        squares = float(left[-1, -1] - left[:-1, -1] @ beta)
        log_determinant = matrix.log_determinant + 2 * float(np.log(np.diag(factor[0])).sum())
        deviance = log_determinant + degrees * (1 + np.log(2 * np.pi * squares / degrees))
        # Z' V^-1 R for each group; the derivative of R' V^-1 R by a deviation is -2 times it of its squares.
        one, other = groups.split(scale * solved)
        fitted = np.concatenate([self.table @ other, self.table.T @ one]) + self.counts[:, None] * (scale * solved)
        slope = matrix.slopes()
        contrast = np.append(-beta, 1.0)
        for place, rest in enumerate(groups.split(self.sums - fitted)):
            change = -2 * deviations[place] * (rest.T @ rest)
            slope[place] += np.trace(scipy.linalg.cho_solve(factor, change[:-1, :-1]))
            slope[place] += degrees * float(contrast @ change @ contrast) / squares
        return _Profile(deviance, slope, beta, left[:-1, :-1], squares)


def _fit(ratings: Ratings) -> Fit | str:
    """Return the fit, or the reason why there is none."""
    design, unit = Design.of(ratings), unit_of(ratings.value)
    # Centred and scaled, so that a result does not depend on the scale of the ratings.
    centre, scale = float(np.mean(ratings.value / unit)), float(np.std(ratings.value / unit))
    value = (ratings.value / unit - centre) / scale
    means = design.of_bots(value) / design.of_bots(np.ones(len(value)))
    if np.abs(value - means[design.bot]).max() < _ROUNDING:
        return "the ratings of each bot are all alike"
    reml = _Reml.of(design, value)
    found = _minimum(reml)
    if isinstance(found, str):
        return found
    degrees, profile = len(value) - len(means), reml.at(found)
    residual = float(np.sqrt(profile.squares / degrees)) * scale
    return Fit(
        rated=design.rated,
        effects=profile.beta * scale + centre,
        covariance=np.asarray(np.linalg.inv(profile.precision) * residual**2, dtype=np.float64),
        components=(
            *design.components(found * residual * unit),
            VarianceComponent("residual", residual * unit, len(value), None),
        ),
        log_likelihood=-profile.deviance / 2 - degrees * (math.log(scale) + math.log(unit)),
        unit=unit,
    )


def _minimum(reml: _Reml) -> FloatArray | str:
    """Return the deviations (2,) of the smallest deviance, or the reason why there are none.

    At 0 the derivative is 0, whether or not the deviance is smallest there. So the search starts at two places.
    """

    def objective(deviations: FloatArray) -> tuple[float, FloatArray]:
        profile = reml.at(deviations)
        return profile.deviance, profile.slope

    found = min(
        (
            scipy.optimize.minimize(
                objective,
                start,
                jac=True,
                method="L-BFGS-B",
                bounds=[(0, _LARGEST)] * 2,
                options={"ftol": 1e-15, "gtol": 1e-7},
            )
            for start in _STARTS
        ),
        key=lambda each: float(each.fun),
    )
    deviations = np.where(found.x < _ZERO, 0.0, found.x)
    if deviations.max() >= _LARGEST:
        return _NO_RESIDUAL
    slope = np.where(deviations > 0, reml.at(deviations).slope, 0.0)
    return deviations if np.abs(slope).max() < _FLAT else "the fit did not converge"
