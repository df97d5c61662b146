"""The likelihood of interval-censored times under a regression, and the step to its maximum."""

from enum import StrEnum
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.survival.censored_times import CensoredTimes
from spotthebot.analytics.stats.survival.npmle import npmle

_ITERATIONS: Final = 500
_EXACT: Final = 1e-9


class Odds(StrEnum):
    """The quantity that covariates multiply: the cumulative hazard (Cox), or the odds of the event."""

    HAZARDS = "proportional hazards"
    ODDS = "proportional odds"


class State:
    """The likelihood, its slopes and its curvature, at one value of the jumps (m - 1,) and the coefficients (p,)."""

    def __init__(self, times: CensoredTimes, x: FloatArray, model: Odds, jumps: FloatArray, beta: FloatArray) -> None:
        self.jumps, self.beta = jumps, beta
        m, n = len(times.cells), len(times)
        ratio = np.exp(np.clip(x @ beta, -100, 100))
        cumulative = np.concatenate([[0.0], np.cumsum(jumps)])
        first, last = times.first, times.last + 1
        ends = last < m
        low, high = cumulative[first] * ratio, np.where(ends, cumulative[np.minimum(last, m - 1)], 0.0) * ratio
        (s_low, d_low, dd_low), (s_high, d_high, dd_high) = _transform(low, model), _transform(high, model)
        s_high, d_high, dd_high = s_high * ends, d_high * ends, dd_high * ends
        probability = np.maximum(s_low - s_high, 1e-300)
        self.log_likelihood = float(np.sum(np.log(probability)))
        # Slopes of a row's probability in its two cumulative values, and in the linear predictor.
        below = np.arange(m - 1)
        to_low = (below < first[:, None]) * ratio[:, None]
        to_high = (below < last[:, None]) * (ends * ratio)[:, None]
        by_jump = to_low * d_low[:, None] - to_high * d_high[:, None]
        by_eta = d_low * low - d_high * high
        rows = np.column_stack([by_jump, by_eta[:, None] * x]) / probability[:, None]
        self.rows = rows
        self.gradient = rows.sum(axis=0)
        weight_low, weight_high = dd_low / probability, dd_high / probability
        jump_jump = (to_low * weight_low[:, None]).T @ to_low - (to_high * weight_high[:, None]).T @ to_high
        cross_low = to_low * ((dd_low * low + d_low) / probability)[:, None]
        cross_high = to_high * ((dd_high * high + d_high) / probability)[:, None]
        jump_eta = (cross_low - cross_high).T @ x
        curve = (dd_low * low**2 + d_low * low - dd_high * high**2 - d_high * high) / probability
        eta_eta = (x * curve[:, None]).T @ x
        self.information = rows.T @ rows - np.block([[jump_jump, jump_eta], [jump_eta.T, eta_eta]])
        slope = self.gradient[: m - 1]
        by_coefficient = np.abs(self.gradient[m - 1 :])
        at_bound = np.max(slope, initial=0.0, where=jumps <= 0)
        inner = np.abs(slope * np.minimum(jumps, 1.0)).max(initial=0.0)
        self.kkt = float(max(at_bound, inner, by_coefficient.max(initial=0.0)) / n)

    @property
    def free(self) -> IntArray:
        """Return the parameters that are not held at a bound: positive or rising jumps, and all coefficients."""
        q = len(self.jumps)
        held = (self.jumps <= 0) & (self.gradient[:q] <= 0)
        return np.flatnonzero(np.concatenate([~held, np.ones(len(self.beta), dtype=bool)]))


def maximise(times: CensoredTimes, x: FloatArray, model: Odds) -> State:
    """Return the state at the maximum. The search starts from the nonparametric estimate, with coefficients of 0.

    `x` (n, p) has standardised covariates.
    """
    mass = npmle(times).mass
    survival = np.maximum(1 - np.cumsum(mass), 1e-12)[:-1]
    cumulative = -np.log(survival) if model is Odds.HAZARDS else 1 / survival - 1
    jumps = np.maximum(np.diff(np.concatenate([[0.0], cumulative])), 0.0)
    jumps[mass[:-1] <= 0] = 0.0
    state = State(times, x, model, jumps, np.zeros(x.shape[1]))
    q, damping = len(jumps), 1e-8
    for _ in range(_ITERATIONS):
        if state.kkt < _EXACT or not np.isfinite(state.information).all():
            break
        free = state.free
        inside = state.information[np.ix_(free, free)]
        values, vectors = np.linalg.eigh(inside)
        step = np.zeros(q + len(state.beta))
        step[free] = vectors @ ((vectors.T @ state.gradient[free]) / np.maximum(np.abs(values), damping))
        moved = _line_search(times, x, model, state, step)
        if moved is None:
            break
        state = moved
    return state


def _line_search(times: CensoredTimes, x: FloatArray, model: Odds, state: State, step: FloatArray) -> State | None:
    q, length = len(state.jumps), 1.0
    while length > 1e-10:
        jumps = np.maximum(state.jumps + length * step[:q], 0.0)
        candidate = State(times, x, model, jumps, state.beta + length * step[q:])
        if candidate.log_likelihood >= state.log_likelihood - 1e-12 * abs(state.log_likelihood):
            return candidate
        length /= 2
    return None


def _transform(u: FloatArray, model: Odds) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return survival as a function of the cumulative value u, and its first two derivatives."""
    if model is Odds.HAZARDS:
        survival = np.exp(-u)
        return survival, -survival, survival
    survival = 1 / (1 + u)
    return survival, -(survival**2), 2 * survival**3
