"""Methods of the package lifelines: parametric fits of interval-censored times, and methods for exact times.

Parametric fits check how sensitive results are, in comparison with nonparametric fits. Kaplan-Meier and Cox's partial
likelihood are for decisions at known times: for example, annotators watch a conversation and stop it once they are
sure.

The package `stats` does not import this module. lifelines imports pandas and matplotlib, which would triple the time
that every command needs to start.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import lifelines
import numpy as np
import pandas as pd
import scipy
from lifelines.exceptions import StatError, StatisticalWarning
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray
from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.errors import FitFailed
from spotthebot.analytics.stats.separation import column_rank, is_separated_in_time, standardised
from spotthebot.analytics.stats.survival.censored_times import CensoredTimes
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.columns import read_codes, read_numbers
from spotthebot.statistics.errors import SettingOutOfRange

_NO_GAIN: Final = 1e-9
"""A smaller difference of log-likelihoods counts as equality."""


class Family(StrEnum):
    """A parametric family of distributions of times."""

    WEIBULL = "weibull"
    LOG_NORMAL = "log_normal"
    LOG_LOGISTIC = "log_logistic"


@dataclass(frozen=True)
class ParametricFit:
    """The fit of a family. `survival` is S(t) at the requested times; `median` is None if it is not finite."""

    family: Family
    survival: tuple[float, ...]
    median: float | None
    log_likelihood: float
    aic: float
    n: int
    method: str


@dataclass(frozen=True)
class KaplanMeier:
    """S(t) just after each time at which an event happened, with log-log bounds.

    The median is None if it is not reached.

    If the event has happened for all, so that S(t) is 0, the data tell nothing about later times: the bounds are NaN.
    """

    times: tuple[float, ...]
    estimate: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    median: float | None
    n: int
    events: int
    confidence_level: float
    method: str


@dataclass(frozen=True)
class HazardRatio:
    """The log hazard ratio of a covariate from the partial likelihood, with Wald bounds; None with a `reason`."""

    covariate: str
    estimate: float | None
    standard_error: float | None
    low: float | None
    high: float | None
    p_value: float | None
    reason: str | None


def parametric_survival(times: CensoredTimes, at: ArrayLike, *, family: Family = Family.WEIBULL) -> ParametricFit:
    """Fit a family to interval-censored rows. Return S(t) at the times `at`, for comparison with `npmle`.

    Raises `FitFailed` if the likelihood has no maximum. If one time is possible for the events of all rows, the
    likelihood rises as the distribution narrows to this time. If later inspections find no more events than earlier
    ones, the likelihood rises as the distribution widens. Raises `SettingOutOfRange` and `ColumnMalformed` for `at`.

    >>> from spotthebot.analytics.stats.survival.censored_times import censored_times
    >>> fit = parametric_survival(censored_times([0, 1, 2, 3], [1, 2, 3, 5]), [2.0])
    >>> round(fit.survival[0], 1)  # half by time 2
    0.5
    """
    family = choice_of("family", family, Family)
    what = f"the {family} distribution"
    if not len(times) or times.first.max() <= times.last.min():
        raise FitFailed(what=what, why="all rows may have happened at one time")
    fitter: Any = {
        Family.WEIBULL: lifelines.WeibullFitter,
        Family.LOG_NORMAL: lifelines.LogNormalFitter,
        Family.LOG_LOGISTIC: lifelines.LogLogisticFitter,
    }[family]()
    # Times of about 1 keep the optimiser stable, and lifelines needs exact times as equal ends.
    unit = float(np.median(np.where(times.right_censored, times.left, times.right))) or 1.0
    exact = np.nextafter(times.left, np.inf) >= times.right
    moments = read_numbers(at, "at", finite=True) / unit
    if moments.ndim != 1 or np.any(moments < 0):
        raise SettingOutOfRange(setting="at", allowed="a column of times from 0", value="others")
    with _lifelines(what):
        fitter.fit_interval_censoring(np.where(exact, times.right, times.left) / unit, times.right / unit)
    if float(fitter.log_likelihood_) <= _of_the_widest(times) + _NO_GAIN:
        raise FitFailed(what=what, why="later inspections find no more of the rows to have happened")
    in_units = float(np.sum(exact)) * float(np.log(unit))
    median = float(fitter.median_survival_time_)
    return ParametricFit(
        family=family,
        survival=tuple(float(value) for value in fitter.survival_function_at_times(moments)),
        median=median * unit if np.isfinite(median) else None,
        log_likelihood=float(fitter.log_likelihood_) - in_units,
        aic=float(fitter.AIC_) + 2 * in_units,
        n=len(times),
        method=f"{family} by maximum likelihood (lifelines)",
    )


def _of_the_widest(times: CensoredTimes) -> float:
    """Return the limit of the log-likelihood as the distribution widens, until S(t) is the same number at all times."""
    from_0, to_the_end = times.left <= 0, times.right_censored
    if not np.all(from_0 | to_the_end):
        return -np.inf
    counts = np.array([np.sum(from_0 & ~to_the_end), np.sum(to_the_end & ~from_0)])
    return float(scipy.special.xlogy(counts, counts / counts.sum()).sum())


def kaplan_meier(duration: ArrayLike, decided: ArrayLike, *, confidence_level: float = 0.95) -> KaplanMeier:
    """Estimate S(t) from exact times (n,). If `decided`, it is the time of a decision, else the end of watching.

    `decided` (n,) has true and false, or 1 and 0. Raises `SettingOutOfRange` and `ColumnMalformed`.

    >>> kaplan_meier([1, 2, 2, 3], [True, True, False, True]).estimate  # 3/4, then 2/3 of it, then nobody
    (0.75, 0.5, 0.0)
    """
    require_confidence_level(confidence_level)
    spells, events = _checked(duration, decided)
    with _lifelines("the Kaplan-Meier curve"):
        fitter = lifelines.KaplanMeierFitter(alpha=1 - confidence_level).fit(spells, events)
    moments = np.unique(spells[events])
    estimate = fitter.survival_function_at_times(moments).to_numpy().round(12)
    bounds = fitter.confidence_interval_survival_function_.loc[moments].to_numpy()
    bounds[estimate <= 0] = np.nan
    median = float(fitter.median_survival_time_)
    return KaplanMeier(
        times=tuple(moments.tolist()),
        estimate=tuple(estimate.tolist()),
        low=tuple(bounds[:, 0].tolist()),
        high=tuple(bounds[:, 1].tolist()),
        median=median if np.isfinite(median) else None,
        n=len(spells),
        events=int(events.sum()),
        confidence_level=confidence_level,
        method="Kaplan-Meier, log-log bounds (lifelines)",
    )


def cox_of_exact_times(
    duration: ArrayLike,
    decided: ArrayLike,
    covariates: ArrayLike,
    names: Sequence[str],
    *,
    cluster: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> tuple[HazardRatio, ...]:
    """Fit Cox's partial likelihood to exact times, with Efron's method for ties.

    Errors use the sandwich over `cluster`.

    Without `cluster`, errors use the model's information. With a single cluster there are no errors. `decided` (n,) has
    true and false, or 1 and 0. There is no finite estimate for separated data, for covariates (n, p) that do not vary,
    or for covariates that others determine. In these cases the result has a reason. Raises `SettingOutOfRange`,
    `ColumnMalformed`, and `FitFailed` if lifelines finds no maximum.

    >>> ratios = cox_of_exact_times([1, 2, 3, 4], [True] * 4, [[1], [0], [1], [0]], ["x"])
    >>> ratios[0].estimate > 0  # those with x decide sooner
    True
    """
    require_confidence_level(confidence_level)
    spells, events = _checked(duration, decided)
    given = read_numbers(covariates, "covariates", finite=True)
    if given.shape != (len(spells), len(names)):
        raise SettingOutOfRange(
            setting="covariates", allowed=f"of shape {(len(spells), len(names))}", value=given.shape
        )
    x, units = standardised(given)
    reason = _why_no_ratios(spells, events, x)
    if reason is not None:
        return tuple(HazardRatio(name, None, None, None, None, None, reason) for name in names)
    columns = [f"x{at}" for at in range(len(names))]
    frame = pd.DataFrame(x, columns=columns).assign(duration_=spells, decided_=events)
    clustered = {}
    if cluster is not None:
        frame["cluster_"] = read_codes(_of_length(cluster, len(spells)), "cluster").code
        clustered = {"cluster_col": "cluster_"}
    with _lifelines("Cox's regression"):
        fitted = lifelines.CoxPHFitter().fit(frame, "duration_", "decided_", **clustered)
    quantile = float(scipy.special.ndtri((1 + confidence_level) / 2))
    is_one_cluster = cluster is not None and frame["cluster_"].nunique() < 2
    found = []
    for name, column, unit in zip(names, columns, units, strict=True):
        estimate, error = float(fitted.params_[column] / unit), float(fitted.standard_errors_[column] / unit)
        if is_one_cluster:
            found.append(HazardRatio(name, estimate, None, None, None, None, "all rows are one cluster"))
            continue
        found.append(
            HazardRatio(
                covariate=name,
                estimate=estimate,
                standard_error=error,
                low=estimate - quantile * error,
                high=estimate + quantile * error,
                p_value=float(fitted.summary.loc[column, "p"]),
                reason=None,
            )
        )
    return tuple(found)


def _why_no_ratios(spells: FloatArray, events: BoolArray, x: FloatArray) -> str | None:
    if not events.any():
        return "nothing was decided"
    if column_rank(x) < x.shape[1]:
        return "a covariate does not vary, or others determine it"
    moments, at = np.unique(spells[events], return_inverse=True)
    by = np.full(len(spells), -1)
    by[events] = at
    # At the time of a decision, all rows that last as long are at risk, the row itself included.
    at_risk = np.searchsorted(moments, spells, side="right") - 1
    return "the data are separated: no finite estimate" if is_separated_in_time(x, by, at_risk) else None


@contextmanager
def _lifelines(what: str) -> Iterator[None]:
    """Raise `FitFailed` for errors of lifelines and of the packages that it calls, and suppress its warnings."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            yield
        except (StatError, StatisticalWarning, ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise FitFailed(what=what, why="lifelines found no maximum") from error


def _of_length(column: ArrayLike, n: int) -> ArrayLike:
    if np.shape(column) != (n,):
        raise SettingOutOfRange(setting="cluster", allowed=f"a column of {n} rows", value=np.shape(column))
    return column


def _checked(duration: ArrayLike, decided: ArrayLike) -> tuple[FloatArray, BoolArray]:
    spells, coded = read_numbers(duration, "duration"), read_numbers(decided, "decided")
    if spells.shape != coded.shape or spells.ndim != 1 or not len(spells):
        raise SettingOutOfRange(
            setting="duration and decided",
            allowed="columns of one length above 0",
            value=f"{spells.shape}, {coded.shape}",
        )
    if not np.all(spells > 0) or not np.all(np.isfinite(spells)):
        raise SettingOutOfRange(setting="duration", allowed="finite and above 0", value=float(spells.min()))
    wrong = ~np.isin(coded, [0, 1])
    if wrong.any():
        raise SettingOutOfRange(
            setting="decided",
            allowed="true or 1 for a decision, false or 0 for the end of watching",
            value=f"{coded[wrong][0]:g} (row {int(wrong.argmax())}, the first is 0)",
        )
    return spells, coded == 1
