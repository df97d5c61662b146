"""What the package lifelines does right: parametric fits of interval-censored times, and methods for exact times.

Parametric fits are a sensitivity check of the nonparametric ones. Kaplan-Meier and Cox's partial likelihood are for
decisions whose time is known, as when annotators watch a conversation and stop it once they are sure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import lifelines
import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.errors import SettingOutOfRange
from spotthebot.analytics.stats.survival.censored_times import CensoredTimes


class Family(StrEnum):
    """A parametric family of times."""

    WEIBULL = "weibull"
    LOG_NORMAL = "log_normal"
    LOG_LOGISTIC = "log_logistic"


@dataclass(frozen=True)
class ParametricFit:
    """A family's fit: `survival` is S(t) at the times asked for, `median` None where it is beyond all bounds."""

    family: Family
    survival: tuple[float, ...]
    median: float | None
    log_likelihood: float
    aic: float
    n: int
    method: str


@dataclass(frozen=True)
class KaplanMeier:
    """S(t) just after each time at which something happened, with log-log bounds; the median is None if not reached."""

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
    """A covariate's log hazard ratio from the partial likelihood, with Wald bounds."""

    covariate: str
    estimate: float
    standard_error: float
    low: float
    high: float
    p_value: float


def parametric_survival(times: CensoredTimes, at: ArrayLike, *, family: Family = Family.WEIBULL) -> ParametricFit:
    """Fit a family to interval-censored rows and read S(t) at the times `at`, to hold beside `npmle`.

    >>> from spotthebot.analytics.stats.survival.censored_times import censored_times
    >>> fit = parametric_survival(censored_times([0, 1, 2, 3], [1, 2, 3, 5]), [2.0])
    >>> round(fit.survival[0], 1)  # half by time 2
    0.5
    """
    fitter: Any = {
        Family.WEIBULL: lifelines.WeibullFitter,
        Family.LOG_NORMAL: lifelines.LogNormalFitter,
        Family.LOG_LOGISTIC: lifelines.LogLogisticFitter,
    }[family]()
    # Times of about 1 keep the optimiser from losing its way, and lifelines wants exact times as equal ends.
    unit = float(np.median(np.where(times.right_censored, times.left, times.right))) or 1.0
    exact = np.nextafter(times.left, np.inf) >= times.right
    moments = np.asarray(at, dtype=np.float64) / unit
    fitter.fit_interval_censoring(np.where(exact, times.right, times.left) / unit, times.right / unit)
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


def kaplan_meier(duration: ArrayLike, decided: ArrayLike, *, confidence_level: float = 0.95) -> KaplanMeier:
    """Estimate S(t) from exact times (n,): of a decision where `decided`, of the end of watching where not.

    >>> kaplan_meier([1, 2, 2, 3], [True, True, False, True]).estimate  # 3/4, then 2/3 of it, then nobody
    (0.75, 0.5, 0.0)
    """
    require_confidence_level(confidence_level)
    spells, events = _checked(duration, decided)
    fitter = lifelines.KaplanMeierFitter(alpha=1 - confidence_level).fit(spells, events)
    moments = np.unique(spells[events])
    bounds = fitter.confidence_interval_survival_function_.loc[moments].to_numpy()
    median = float(fitter.median_survival_time_)
    return KaplanMeier(
        times=tuple(moments.tolist()),
        estimate=tuple(round(float(value), 12) for value in fitter.survival_function_at_times(moments)),
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
    """Fit Cox's partial likelihood (Efron's ties) to exact times; errors from the sandwich over `cluster`, if given.

    >>> ratios = cox_of_exact_times([1, 2, 3, 4], [True] * 4, [[1], [0], [1], [0]], ["x"])
    >>> ratios[0].estimate > 0  # those with x decide sooner
    True
    """
    require_confidence_level(confidence_level)
    spells, events = _checked(duration, decided)
    x = np.asarray(covariates, dtype=np.float64)
    if x.shape != (len(spells), len(names)):
        raise SettingOutOfRange(setting="covariates", allowed=f"of shape {(len(spells), len(names))}", value=x.shape)
    frame = pd.DataFrame(x, columns=list(names)).assign(duration_=spells, decided_=events)
    clustered = {}
    if cluster is not None:
        frame["cluster_"] = np.asarray(cluster)
        clustered = {"cluster_col": "cluster_"}
    fitted = lifelines.CoxPHFitter().fit(frame, "duration_", "decided_", **clustered)
    quantile = float(scipy.special.ndtri((1 + confidence_level) / 2))
    return tuple(
        HazardRatio(
            covariate=name,
            estimate=float(fitted.params_[name]),
            standard_error=float(fitted.standard_errors_[name]),
            low=float(fitted.params_[name] - quantile * fitted.standard_errors_[name]),
            high=float(fitted.params_[name] + quantile * fitted.standard_errors_[name]),
            p_value=float(fitted.summary.loc[name, "p"]),
        )
        for name in names
    )


def _checked(duration: ArrayLike, decided: ArrayLike) -> tuple[Any, Any]:
    spells, events = np.asarray(duration, dtype=np.float64), np.asarray(decided, dtype=bool)
    if spells.shape != events.shape or spells.ndim != 1 or not len(spells):
        raise SettingOutOfRange(
            setting="duration and decided",
            allowed="columns of one length above 0",
            value=f"{spells.shape}, {events.shape}",
        )
    if not np.all(spells > 0) or not np.all(np.isfinite(spells)):
        raise SettingOutOfRange(setting="duration", allowed="above 0", value=float(spells.min()))
    return spells, events
