"""Semiparametric regression of interval-censored times. Covariates multiply hazards, or odds.

The baseline jumps only in the cells of the nonparametric estimate. Newton's method with an active set finds
coefficients and jumps together; jumps are never negative. (Pan 1999 and Anderson-Bergman 2017 alternate between
coefficients and jumps.)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.separation import column_rank, is_separated_in_time, standardised
from spotthebot.analytics.stats.survival.censored_times import CensoredTimes, coded_rows, require_rows
from spotthebot.analytics.stats.survival.interval_likelihood import Odds, State, maximise
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.clustered_variance import Influence, Observations, clustered_variance
from spotthebot.statistics.columns import read_codes, read_numbers
from spotthebot.statistics.distributions import student_quantiles, student_tails
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.uncertainty import Clusters

_SEPARATED: Final = "the data are separated: no finite estimate"
_NOT_FOUND: Final = "the fit did not find the maximum: leave out covariates, or pool inspection times"
_TINY: Final = "a covariate's values are so small that its coefficient is no number: multiply them"


@dataclass(frozen=True)
class IntervalCoefficient:
    """The log ratio of a covariate with Wald bounds. Above 0, the event happens sooner.

    Undefined numbers are None, with a `reason`.

    Quantiles are Student's with `degrees_of_freedom`. If this is None, quantiles are normal.
    """

    covariate: str
    estimate: float | None
    standard_error: float | None
    degrees_of_freedom: float | None
    low: float | None
    high: float | None
    p_value: float | None
    reason: str | None


@dataclass(frozen=True)
class IntervalFit:
    """The result of `interval_cox`: the coefficients, and how exactly the maximum of the likelihood was found.

    `kkt` is the largest violation of the conditions for a maximum: a derivative of the log-likelihood, divided by the
    number of rows.
    """

    coefficients: tuple[IntervalCoefficient, ...]
    log_likelihood: float | None
    kkt: float | None
    separated: bool
    n: int
    n_clusters: int | None
    confidence_level: float
    model: Odds
    method: str
    reason: str | None


def interval_cox(
    times: CensoredTimes,
    covariates: ArrayLike,
    names: Sequence[str],
    *,
    model: Odds = Odds.HAZARDS,
    cluster: ArrayLike | None = None,
    observations: Observations | None = None,
    clusters: Clusters = Clusters.BOTH,
    confidence_level: float = 0.95,
) -> IntervalFit:
    """Fit covariates (n, p) with these `names`. Standard errors use the curvature of the profile likelihood.

    With `cluster` (n,), standard errors use the sandwich over G clusters times G / (G - 1), with quantiles of t(G - 1).
    Rows of different clusters count as independent. With `observations`, rows of one conversation and of one annotator
    vary together, according to `clusters`. There is no finite estimate for separated data, for covariates that do not
    vary, or for covariates that others determine. In these cases the result has a reason. Covariates are standardised
    for the fit, so the result does not depend on their units. Raises `SettingOutOfRange` and `ColumnMalformed`.

    >>> from spotthebot.analytics.stats.survival.censored_times import censored_times
    >>> end = float("inf")  # of each half two thirds and one third by time 2: log(log(1 / 3) / log(2 / 3))
    >>> times = censored_times([0, 0, 2, 0, 2, 2], [2, 2, end, 2, end, end])
    >>> fit = interval_cox(times, [[1], [1], [1], [0], [0], [0]], ["x"])
    >>> round(fit.coefficients[0].estimate, 4)
    0.9968
    """
    model = choice_of("model", model, Odds)
    clusters = choice_of("clusters", clusters, Clusters)
    require_confidence_level(confidence_level)
    x, unit = _standardised(times, covariates, names)
    reason = _why_not(times, x)
    if reason is not None:
        return _undefined(times, names, confidence_level, model, reason, separated=False)
    m = len(times.cells)
    if is_separated_in_time(x, np.where(times.last + 1 < m, times.last, -1), times.first - 1):
        return _undefined(times, names, confidence_level, model, _SEPARATED, separated=True)
    with np.errstate(over="ignore", invalid="ignore"):
        state = maximise(times, x, model)
    if not state.kkt < 1e-5:
        return _undefined(times, names, confidence_level, model, _NOT_FOUND, separated=False)
    n_clusters: int | None
    if observations is not None:
        known = clustered_variance(coded_rows(len(times), observations), _influence(state, x), clusters)
        errors = [
            (each.standard_error, each.degrees_of_freedom, each.reason)
            for each in map(known.uncertainty, range(len(names)))
        ]
        n_clusters, how = int(known.n_clusters.min()) if len(names) else 0, clusters.words
    else:
        code = None if cluster is None else read_codes(cluster, "cluster").code
        if code is not None:
            require_rows(len(times), code)
        errors, n_clusters = _sandwich(state, code)
        how = "profile curvature" if n_clusters is None else "clustered sandwich"
    return IntervalFit(
        coefficients=tuple(
            _wald(name, float(beta), float(each), error, confidence_level)
            for name, beta, each, error in zip(names, state.beta, unit, errors, strict=True)
        ),
        log_likelihood=state.log_likelihood,
        kkt=state.kkt,
        separated=False,
        n=len(times),
        n_clusters=n_clusters,
        confidence_level=confidence_level,
        model=model,
        method=f"{model}, active-set Newton; {how}",
        reason=None,
    )


def _standardised(times: CensoredTimes, covariates: ArrayLike, names: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    x = read_numbers(covariates, "covariates", finite=True)
    if x.shape != (len(times), len(names)):
        raise SettingOutOfRange(setting="covariates", allowed=f"of shape {(len(times), len(names))}", value=x.shape)
    return standardised(x)


_Error: TypeAlias = tuple[float | None, float | None, str | None]
"""Standard error, degrees of freedom, and the reason why there are none."""


def _bread(state: State) -> tuple[FloatArray, IntArray]:
    """Return the inverse information (q, q) of the q parameters that are not held at a bound, and their indices."""
    inside = np.concatenate([np.flatnonzero(state.jumps > 0), len(state.jumps) + np.arange(len(state.beta))])
    bread: FloatArray = np.linalg.pinv(state.information[np.ix_(inside, inside)], hermitian=True)
    return bread, inside


def _sandwich(state: State, cluster: IntArray | None) -> tuple[list[_Error], int | None]:
    bread, inside = _bread(state)
    p = len(state.beta)
    of_covariates = slice(len(inside) - p, None)
    if cluster is None:
        return [(float(np.sqrt(variance)), None, None) for variance in np.diag(bread)[of_covariates]], None
    _, codes = np.unique(cluster, return_inverse=True)
    g = int(codes.max()) + 1
    if g < 2:
        return [(None, None, "all rows are one cluster")] * p, g
    scores = np.zeros((g, len(inside)))
    np.add.at(scores, codes, state.rows[:, inside])
    variances = np.diag(bread @ (scores.T @ scores) @ bread)[of_covariates] * g / (g - 1)
    return [(float(np.sqrt(variance)), float(g - 1), None) for variance in variances], g


def _influence(state: State, x: FloatArray) -> Influence:
    bread, inside = _bread(state)
    n, p = x.shape
    # A row's information about a coefficient comes from its covariate minus the others' prediction of it.
    apart = np.array([x[:, at] - _predicted(np.delete(x, at, axis=1), x[:, at]) for at in range(p)]).T
    entries = np.tile(np.arange(p), n)
    return Influence(
        n_statistics=p,
        statistic=entries,
        observation=np.repeat(np.arange(n), p),
        ratio=entries,
        value=(state.rows[:, inside] @ bread[:, len(inside) - p :]).ravel(),
        weight=(apart**2).ravel(),
    )


def _predicted(others: FloatArray, column: FloatArray) -> FloatArray:
    predicted: FloatArray = others @ np.linalg.lstsq(others, column, rcond=None)[0]
    return predicted


def _wald(name: str, beta: float, unit: float, error: _Error, confidence_level: float) -> IntervalCoefficient:
    """Return a coefficient with bounds per 1 of the covariate. `beta` and `error` are per `unit` of the covariate."""
    standard_error, degrees, reason = error
    with np.errstate(over="ignore"):
        estimate, per_unit = (float(np.float64(each) / unit) for each in (beta, standard_error or 0.0))
    if not (math.isfinite(estimate) and math.isfinite(per_unit)):
        return IntervalCoefficient(name, None, None, None, None, None, None, _TINY)
    if standard_error is None:
        return IntervalCoefficient(name, estimate, None, degrees, None, None, None, reason)
    known = np.inf if degrees is None else degrees
    reach = float(student_quantiles((1 + confidence_level) / 2, known)) * per_unit
    p_value = float(2 * student_tails(abs(beta) / standard_error, known)) if standard_error > 0 else None
    return IntervalCoefficient(name, estimate, per_unit, degrees, estimate - reach, estimate + reach, p_value, reason)


def _why_not(times: CensoredTimes, x: FloatArray) -> str | None:
    if not len(times):
        return "no rows"
    if len(times.cells) < 2:
        return "all rows may have happened in the same cell: nothing tells who was sooner"
    if column_rank(x) < x.shape[1]:
        return "a covariate does not vary, or others determine it"
    return None


def _undefined(
    times: CensoredTimes, names: Sequence[str], confidence_level: float, model: Odds, reason: str, *, separated: bool
) -> IntervalFit:
    return IntervalFit(
        coefficients=tuple(IntervalCoefficient(name, None, None, None, None, None, None, reason) for name in names),
        log_likelihood=None,
        kkt=None,
        separated=separated,
        n=len(times),
        n_clusters=None,
        confidence_level=confidence_level,
        model=model,
        method=str(model),
        reason=reason,
    )
