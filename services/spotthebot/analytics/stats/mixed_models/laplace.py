"""The likelihood of the cumulative link mixed model, by Laplace's approximation, with its exact derivatives."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.mixed_models.crossed_intercepts import Penalised
from spotthebot.analytics.stats.mixed_models.design import Design

_STEPS: Final = 100
_SMALL: Final = 1e-11


@dataclass(frozen=True, eq=False)
class Cells:
    """Log probabilities (n,) of the rows' categories, with derivatives by the level and by the two thresholds.

    P(category) = F(upper - level) - F(lower - level) with the logistic F. The log is the sum of log F(upper - level),
    log(1 - F(lower - level)) and log(1 - exp(lower - upper)), which loses no digit in the tails. `below` and `under`
    are F at the upper and at the lower threshold.
    """

    log_probability: FloatArray
    below: FloatArray
    under: FloatArray
    gap: FloatArray

    @classmethod
    def of(cls, upper: FloatArray, lower: FloatArray, level: FloatArray) -> "Cells":
        log_probability = (
            -np.logaddexp(0, level - upper) - np.logaddexp(0, lower - level) + np.log(-np.expm1(lower - upper))
        )
        gap = np.exp(lower - upper) / -np.expm1(lower - upper)
        return cls(log_probability, scipy.special.expit(upper - level), scipy.special.expit(lower - level), gap)

    @property
    def slope(self) -> FloatArray:
        """Return the derivative of the log probability by the level."""
        return self.below + self.under - 1

    @property
    def densities(self) -> tuple[FloatArray, FloatArray]:
        """Return the logistic densities at the upper and the lower threshold."""
        return self.below * (1 - self.below), self.under * (1 - self.under)

    @property
    def weight(self) -> FloatArray:
        """Return minus the second derivative of the log probability by the level: the sum of the densities."""
        upper, lower = self.densities
        return upper + lower

    @property
    def bends(self) -> tuple[FloatArray, FloatArray]:
        """Return the derivatives of the densities by their thresholds."""
        upper, lower = self.densities
        return upper * (1 - 2 * self.below), lower * (1 - 2 * self.under)


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The deviance of thresholds, bots' effects and two standard deviations, given the rows' `category` (n,), from 0.

    The first of k bots has the effect 0. The random intercepts of the groups (q,) are standard normal. Their mode is
    kept as the start of the next search.
    """

    design: Design
    category: IntArray
    n_thresholds: int
    mode: FloatArray

    @classmethod
    def of(cls, design: Design, category: IntArray) -> "Likelihood":
        return cls(design, category, int(category.max()), np.zeros(sum(design.groups.sizes)))

    def at(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Return minus the log-likelihood, and its derivatives: thresholds, k - 1 effects, two deviations.

        The approximation of the integral over intercepts u is f(u) + log|H| / 2 at the mode of u, where f is the sum of
        minus the log probabilities and u'u / 2, and H its second derivative (Christensen 2019, Cumulative link models
        for ordinal regression with the R package ordinal, section 5).
        """
        thresholds, effects, deviations = self.split(parameters)
        bounds = np.concatenate([[-np.inf], thresholds, [np.inf]])
        upper, lower = bounds[self.category + 1], bounds[self.category]
        groups, scale = self.design.groups, self.design.groups.of_groups(deviations)
        fixed = np.concatenate([[0.0], effects])[self.design.bot]
        cells, matrix = self._find_mode(upper, lower, fixed, deviations)
        value = -cells.log_probability.sum() + self.mode @ self.mode / 2 + matrix.log_determinant / 2
        own, pairs, other = matrix.inverse()
        one, two = deviations
        spread = one**2 * own[groups.first] + two**2 * other[groups.second]
        spread += 2 * one * two * pairs[groups.first, groups.second]
        upper_bend, lower_bend = cells.bends
        # By the level: what moves log|H| / 2 moves the mode, too, whose answer is `reply`.
        push = -spread * (upper_bend + lower_bend) / 2
        reply = matrix.solve(scale * groups.sums(push))
        reach = groups.spread(scale * reply)
        upper_density, lower_density = cells.densities
        by_level = -cells.slope + push - cells.weight * reach
        by_upper = cells.below - 1 - cells.gap + spread * upper_bend / 2 + upper_density * reach
        by_lower = cells.under + cells.gap + spread * lower_bend / 2 + lower_density * reach
        by_thresholds = (
            np.bincount(self.category, weights=by_upper, minlength=len(bounds) - 1)[:-1]
            + np.bincount(self.category, weights=by_lower, minlength=len(bounds) - 1)[1:]
        )
        moved = groups.split(groups.sums(by_level) * self.mode + groups.sums(cells.slope) * reply)
        by_deviations = matrix.slopes() / 2 + [float(each.sum()) for each in moved]
        return float(value), np.concatenate([by_thresholds, self.design.of_bots(by_level)[1:], by_deviations])

    def split(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return thresholds, effects of the bots after the first, and the two standard deviations."""
        return parameters[: self.n_thresholds], parameters[self.n_thresholds : -2], parameters[-2:]

    def _find_mode(
        self, upper: FloatArray, lower: FloatArray, fixed: FloatArray, deviations: FloatArray
    ) -> tuple[Cells, Penalised]:
        """Set `mode` by Newton's method. The sum is convex, so a step that does not lower it is halved."""
        groups, scale = self.design.groups, self.design.groups.of_groups(deviations)
        mode = self.mode

        def value_at(candidate: FloatArray) -> tuple[float, Cells]:
            cells = Cells.of(upper, lower, fixed + groups.spread(scale * candidate))
            return float(candidate @ candidate / 2 - cells.log_probability.sum()), cells

        value, cells = value_at(mode)
        for _ in range(_STEPS):
            matrix = Penalised.of(groups.table(cells.weight), deviations)
            step = matrix.solve(scale * groups.sums(cells.slope) - mode)
            size, found = 1.0, value_at(mode + step)
            while not found[0] <= value + _SMALL * abs(value) and size > _SMALL:
                size /= 2
                found = value_at(mode + size * step)
            mode, (value, cells) = mode + size * step, found
            if np.abs(step).max() < _SMALL**0.5:
                break
        self.mode[:] = mode
        return cells, Penalised.of(groups.table(cells.weight), deviations)
