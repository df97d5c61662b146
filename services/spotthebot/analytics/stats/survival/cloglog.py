"""Binomial regression with a complementary log-log link: Newton's method and Firth's penalty.

P(event) is 1 - exp(-exp(x'b)). So the linear predictor x'b of a row is the logarithm of its cumulative hazard.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray

# exp(6.5) = 665: a larger cumulative hazard is certainty in double precision, and its exponential would overflow;
# exp(-700) is a smallest one whose ratios are still defined.
_PREDICTOR_RANGE: Final = (-700.0, 6.5)
_ITERATIONS: Final = 200
_SMALLEST_GAIN: Final = 1e-18


@dataclass(frozen=True, eq=False)
class CloglogFit:
    """The maximum of the likelihood, which may be penalised, and the derivatives of the likelihood there.

    `information` is the expected information, of shape (p, p). `score` and `curvature` are the derivatives d/dη and
    -d²/dη² of each row's log-likelihood; η is the linear predictor. Both have the shape (rows, 2): the first column is
    for a non-event, the second column is for an event.
    """

    coefficients: FloatArray
    information: FloatArray
    score: FloatArray
    curvature: FloatArray
    log_likelihood: float
    converged: bool


def fit_cloglog(design: FloatArray, events: FloatArray, trials: FloatArray, *, firth: bool = False) -> CloglogFit:
    """Fit `events` of `trials` (rows,) on `design` (rows, p) of full column rank.

    With `firth`, half of the log determinant of the information is added to the log-likelihood (Firth 1993). This keeps
    the estimate finite for separated data. Without it, the fit does not converge for separated data: call
    `separation.is_separated` first.
    """
    coefficients = np.zeros(design.shape[1])
    state = _State(design, events, trials, coefficients, firth=firth)
    gain = np.inf
    for _ in range(_ITERATIONS):
        step = np.linalg.pinv(state.information, hermitian=True) @ state.gradient
        gain = float(state.gradient @ step)
        if gain < _SMALLEST_GAIN:
            break
        # Near the maximum a step gains less than the objective's last digit, and may seem to lose it.
        acceptable = state.objective - 1e-12 * (1 + abs(state.objective))
        length = 1.0
        candidate = _State(design, events, trials, state.coefficients + step, firth=firth)
        while candidate.objective < acceptable and length > 1e-10:
            length /= 2
            candidate = _State(design, events, trials, state.coefficients + length * step, firth=firth)
        state = candidate
    return CloglogFit(
        coefficients=state.coefficients,
        information=state.information,
        score=np.column_stack([-state.hazard, state.pull]),
        curvature=np.column_stack([state.hazard, state.pull * (state.pull - 1 + state.hazard)]),
        log_likelihood=state.log_likelihood,
        converged=gain < _SMALLEST_GAIN,
    )


class _State:
    """The likelihood, the gradient and the expected information at one value of the coefficients."""

    def __init__(
        self, design: FloatArray, events: FloatArray, trials: FloatArray, coefficients: FloatArray, *, firth: bool
    ) -> None:
        self.coefficients = coefficients
        predictor = np.clip(design @ coefficients, *_PREDICTOR_RANGE)
        self.hazard = np.exp(predictor)
        # d/dη log P(event) = hazard / (exp(hazard) - 1), which tends to 1 as the hazard vanishes.
        self.pull = self.hazard / np.expm1(self.hazard)
        weights = trials * self.hazard * self.pull
        self.information = (design.T * weights) @ design
        non_events = trials - events
        self.log_likelihood = float(events @ np.log(-np.expm1(-self.hazard)) - non_events @ self.hazard)
        self.gradient = design.T @ (events * self.pull - non_events * self.hazard)
        self.objective = self.log_likelihood
        if firth:
            sign, log_determinant = np.linalg.slogdet(self.information)
            if sign <= 0:
                self.objective = -np.inf
                return
            leverage = weights * np.einsum(
                "ij,jk,ik->i", design, np.linalg.pinv(self.information, hermitian=True), design
            )
            slope = 2 - self.pull - self.hazard
            self.objective += log_determinant / 2
            self.gradient = self.gradient + design.T @ (leverage * slope) / 2
