"""The semiparametric proportional-hazards fit of current-status data: a non-decreasing baseline and covariates."""

from dataclasses import dataclass

import numpy as np

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.separation import is_separated
from spotthebot.analytics.stats.survival.cloglog import CloglogFit, fit_cloglog


@dataclass(frozen=True, eq=False)
class HazardsFit:
    """A fit. The first columns of `design` are the blocks of times; the other ones are the `columns` of the covariates.

    `block` (times,) has the number of each time's block. `estimable` (covariates,) is false for a covariate that the
    other covariates and the time determine. One covariate of a group of such covariates stays in `columns`, to adjust
    the other coefficients.
    """

    block: IntArray
    columns: IntArray
    estimable: BoolArray
    design: FloatArray
    fit: CloglogFit
    separated: bool


def fit_proportional_hazards(
    time: IntArray, covariates: FloatArray, events: FloatArray, trials: FloatArray
) -> HazardsFit:
    """Maximise the likelihood of `events` of `trials` in each row. The log cumulative hazard may not fall with time.

    `time` has the codes 0 to T-1, each at least once. The first time must have events and the last time non-events;
    otherwise the logarithm of its hazard would not be finite. Times whose hazards fall are pooled. They are separated
    again if this raises the likelihood (the Karush-Kuhn-Tucker conditions). Separated data are fitted with Firth's
    penalty.
    """
    n_times = int(time.max()) + 1
    starts = _initial_blocks(_by_time(time, events), _by_time(time, trials))
    columns, estimable = _column_basis(np.eye(n_times)[time], covariates)
    kept = covariates[:, columns]
    separated = is_separated(_design(starts, time, kept), events, trials)
    partings_left = n_times
    while True:
        block = np.cumsum(starts) - 1
        design = _design(starts, time, kept)
        fit = fit_cloglog(design, events, trials, firth=separated)
        first_times = np.flatnonzero(starts)
        falls = np.flatnonzero(np.diff(fit.coefficients[: len(first_times)]) < 0) + 1
        if len(falls):
            starts[first_times[falls]] = False
            continue
        gains = _gains_of_parting(time, block, starts, events * fit.score[:, 1] + (trials - events) * fit.score[:, 0])
        if separated or not partings_left or gains.max() < 1e-7:
            return HazardsFit(block, columns, estimable, design, fit, separated)
        starts[np.argmax(gains)] = True
        partings_left -= 1


def _design(starts: BoolArray, time: IntArray, covariates: FloatArray) -> FloatArray:
    block = np.cumsum(starts) - 1
    return np.column_stack([np.eye(block[-1] + 1)[block[time]], covariates])


def _by_time(time: IntArray, values: FloatArray) -> FloatArray:
    return np.bincount(time, weights=values).astype(np.float64)


def _initial_blocks(events: FloatArray, trials: FloatArray) -> BoolArray:
    # A time without events after one with some, or with only events before one without, certainly lies on the
    # constraint; alone, its hazard would diverge to 0 or infinity.
    starts = np.ones(len(events), dtype=np.bool_)
    while True:
        first_times = np.flatnonzero(starts)
        block = np.cumsum(starts) - 1
        share = np.bincount(block, weights=events) / np.bincount(block, weights=trials)
        bound = np.concatenate([[False], (share[1:] == 0) | (share[:-1] == 1)])
        if not bound.any():
            return starts
        starts[first_times[bound]] = False


def _column_basis(intercepts: FloatArray, covariates: FloatArray) -> tuple[IntArray, BoolArray]:
    def rank(columns: list[int]) -> int:
        return int(np.linalg.matrix_rank(np.column_stack([intercepts, covariates[:, columns]])))

    everything = list(range(covariates.shape[1]))
    full = rank(everything)
    basis: list[int] = []
    for column in everything:
        if rank([*basis, column]) > rank(basis):
            basis.append(column)
    estimable = [rank([other for other in everything if other != column]) < full for column in everything]
    return np.array(basis, dtype=np.int64), np.array(estimable, dtype=np.bool_)


def _gains_of_parting(time: IntArray, block: IntArray, starts: BoolArray, slopes: FloatArray) -> FloatArray:
    slope = _by_time(time, slopes)
    gains = np.zeros(len(slope))
    for at in np.flatnonzero(~starts):
        gains[at] = slope[at:][block[at:] == block[at]].sum()
    return gains
