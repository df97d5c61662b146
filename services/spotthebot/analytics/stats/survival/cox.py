"""Which features reveal a bot. A proportional-hazards regression explains the time of being spotted by features.

For current-status data the semiparametric Cox model is a binomial regression with complementary log-log link. It has
one intercept for each inspection time: the log cumulative hazard. A cumulative hazard cannot fall with time, so falling
intercepts are pooled. The result is the maximum under this constraint, as in the package icenReg.

The default standard errors let inspections of one conversation and of one annotator vary together. An inspection's
influence on a coefficient is its score times the inverse information. Its weight is the information about the
coefficient that it adds to the times and the other features.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.errors import CriterionUnknown
from spotthebot.analytics.stats.survival.curves import CurrentStatus
from spotthebot.analytics.stats.survival.proportional_hazards import HazardsFit, fit_proportional_hazards
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.clustered_variance import Influence, Observations, clustered_variance
from spotthebot.statistics.distributions import student_quantiles, student_tails
from spotthebot.statistics.uncertainty import Clusters, Uncertainty

FEATURES: Final = ("fluency", "sensibleness", "specificity")


class StandardErrors(StrEnum):
    """How standard errors are computed.

    `CLUSTERED` lets inspections of one conversation or one annotator vary together, and uses Student's quantiles. The
    other three use normal quantiles. `MODEL` uses the expected information of the model. `CONVERSATION` and `ANNOTATOR`
    use the sandwich over G clusters of one kind, times G / (G - 1) (n - 1) / (n - p).
    """

    CLUSTERED = "clustered"
    MODEL = "model"
    CONVERSATION = "conversation"
    ANNOTATOR = "annotator"


@dataclass(frozen=True)
class CoxCoefficient:
    """The log hazard ratio of a feature per step of its lead (-1, 0, 1), with Wald bounds.

    Below 0 a bot with the feature stays unspotted longer. `model_standard_error` assumes independent inspections.
    """

    feature: str
    estimate: float | None
    standard_error: float | None
    model_standard_error: float | None
    low: float | None
    high: float | None
    p_value: float | None
    uncertainty: Uncertainty
    reason: str | None


@dataclass(frozen=True)
class CoxFit:
    """The regression of one entity. `baseline` maps each block of pooled inspection times to its log cumulative hazard.

    `separated` means that the likelihood has no maximum and Firth's penalty was used instead. A time tells nothing
    about the features if all of the entity's inspections at it spotted the entity, or none. Such a time has no block.
    """

    bot: str
    coefficients: tuple[CoxCoefficient, ...]
    baseline: tuple[tuple[tuple[int, ...], float], ...]
    log_likelihood: float | None
    n: int
    events: int
    confidence_level: float
    method: str
    standard_errors: StandardErrors
    separated: bool
    reason: str | None


def cox_regressions(
    status: CurrentStatus,
    *,
    features: Sequence[str] = FEATURES,
    standard_errors: StandardErrors = StandardErrors.CLUSTERED,
    clusters: Clusters = Clusters.BOTH,
    confidence_level: float = 0.95,
) -> tuple[CoxFit, ...]:
    """Fit each entity's time of being spotted on the leads of its features. Entities are in the order of `names`.

    `clusters` is for the clustered standard errors. Raises `CriterionUnknown` for a missing feature.

    >>> status = CurrentStatus(
    ...     names=("A",),
    ...     times=np.array([2]),
    ...     entity=np.zeros(12, int),
    ...     time=np.zeros(12, int),
    ...     spotted=np.array([1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0], dtype=bool),  # 2 of 6 with a lead, 4 of 6 without
    ...     conversation=np.arange(12),
    ...     annotator=np.arange(12),
    ...     leads={"fluency": np.repeat([1, 0], 6)},
    ... )
    >>> (fit,) = cox_regressions(status, features=["fluency"])
    >>> round(fit.coefficients[0].estimate, 4)  # log(log(2 / 3) / log(1 / 3)), the log ratio of cumulative hazards
    -0.9968
    """
    standard_errors = choice_of("standard_errors", standard_errors, StandardErrors)
    clusters = choice_of("clusters", clusters, Clusters)
    require_confidence_level(confidence_level)
    if unknown := [each for each in features if each not in status.leads]:
        raise CriterionUnknown(criterion=unknown[0], known=", ".join(status.leads) or "no features")
    return tuple(
        _fit_entity(status, code, tuple(features), standard_errors, clusters, confidence_level)
        for code in range(len(status.names))
    )


def _fit_entity(
    status: CurrentStatus,
    code: int,
    features: tuple[str, ...],
    standard_errors: StandardErrors,
    clusters: Clusters,
    confidence_level: float,
) -> CoxFit:
    mine = np.flatnonzero(status.entity == code)
    n, events = len(mine), int(status.spotted[mine].sum())
    informative = mine[np.isin(status.time[mine], _informative_times(status, mine))]
    fit = CoxFit(
        bot=status.names[code],
        coefficients=(),
        baseline=(),
        log_likelihood=None,
        n=n,
        events=events,
        confidence_level=confidence_level,
        method="maximum likelihood",
        standard_errors=standard_errors,
        separated=False,
        reason=None,
    )
    if not len(informative):
        reason = _why_nothing_informative(n, events)
        nothing = Observations(status.conversation[mine], status.annotator[mine])
        return replace(fit, reason=reason, coefficients=tuple(_unknown(name, nothing, reason) for name in features))
    time_values, time = np.unique(status.time[informative], return_inverse=True)
    leads = np.column_stack([np.empty((len(informative), 0)), *(status.leads[name][informative] for name in features)])
    patterns, pattern = np.unique(np.column_stack([time, leads]), axis=0, return_inverse=True)
    spotted = status.spotted[informative]
    hazards = fit_proportional_hazards(
        patterns[:, 0].astype(np.int64),
        patterns[:, 1:],
        np.bincount(pattern, weights=spotted).astype(np.float64),
        np.bincount(pattern).astype(np.float64),
    )
    n_blocks = int(hazards.block[-1]) + 1
    place = {int(column): n_blocks + at for at, column in enumerate(hazards.columns) if hazards.estimable[column]}
    who = Observations(status.conversation[informative], status.annotator[informative])
    model_errors = np.sqrt(np.diag(np.linalg.inv(hazards.fit.information)))
    errors = _errors(hazards, pattern, spotted.astype(np.int64), who, standard_errors, clusters)
    times = status.times[time_values]
    return replace(
        fit,
        coefficients=tuple(
            _wald(name, hazards.fit.coefficients[place[i]], model_errors[place[i]], errors[place[i]], confidence_level)
            if i in place
            else _unknown(name, who, "its lead never varies, or the other features or the time determine it")
            for i, name in enumerate(features)
        ),
        baseline=tuple(
            (tuple(times[hazards.block == block].tolist()), float(hazards.fit.coefficients[block]))
            for block in range(n_blocks)
        ),
        log_likelihood=hazards.fit.log_likelihood,
        method="Firth" if hazards.separated else "maximum likelihood",
        separated=hazards.separated,
    )


def _informative_times(status: CurrentStatus, rows: IntArray) -> IntArray:
    inspected = np.bincount(status.time[rows], minlength=len(status.times))
    spotted = np.bincount(status.time[rows], weights=status.spotted[rows], minlength=len(status.times))
    some_by_now = np.cumsum(spotted) > 0
    some_left = np.cumsum((inspected - spotted)[::-1])[::-1] > 0
    return np.flatnonzero((inspected > 0) & some_by_now & some_left)


def _why_nothing_informative(n: int, events: int) -> str:
    if n == 0:
        return "never inspected"
    if events == 0:
        return "never spotted"
    if events == n:
        return "spotted at every inspection"
    return "spotted never before some inspection time and always from then on"


def _errors(
    hazards: HazardsFit,
    pattern: IntArray,
    spotted: IntArray,
    who: Observations,
    standard_errors: StandardErrors,
    clusters: Clusters,
) -> tuple[Uncertainty, ...]:
    """Return the uncertainty of each column of the design. The interval of its coefficient is based on it."""
    if standard_errors is StandardErrors.CLUSTERED:
        known = clustered_variance(who, _influence(hazards, pattern, spotted), clusters)
        return tuple(known.uncertainty(column) for column in range(hazards.design.shape[1]))
    reason = None
    if standard_errors is StandardErrors.MODEL:
        covariance, of = np.linalg.inv(hazards.fit.information), Clusters.NONE
    else:
        by_conversation = standard_errors is StandardErrors.CONVERSATION
        of = Clusters.CONVERSATION if by_conversation else Clusters.ANNOTATOR
        cluster = who.conversation if by_conversation else who.annotator
        covariance, reason = _sandwich(hazards, pattern, spotted, cluster)
    return tuple(_uncertainty(who, of, defined(np.sqrt(variance)), reason) for variance in np.diag(covariance))


def _influence(hazards: HazardsFit, pattern: IntArray, spotted: IntArray) -> Influence:
    design, fit = hazards.design, hazards.fit
    n, p = len(pattern), design.shape[1]
    rows = design[pattern]
    bread = np.linalg.inv((rows.T * fit.curvature[pattern, spotted]) @ rows)
    # A row's information: the squared column without the others' part, times the expected curvature.
    apart = rows @ bread / np.diag(bread)
    expected = (fit.curvature[:, 0] * fit.score[:, 1])[pattern]
    entries = np.tile(np.arange(p), n)
    return Influence(
        n_statistics=p,
        statistic=entries,
        observation=np.repeat(np.arange(n), p),
        ratio=entries,
        value=(rows @ bread * fit.score[pattern, spotted][:, None]).ravel(),
        weight=(expected[:, None] * apart**2).ravel(),
    )


def _sandwich(
    hazards: HazardsFit, pattern: IntArray, spotted: IntArray, cluster: IntArray
) -> tuple[FloatArray, str | None]:
    design, fit = hazards.design, hazards.fit
    values, codes = np.unique(cluster, return_inverse=True)
    g, (n, p) = len(values), (len(pattern), design.shape[1])
    if g <= p:
        return np.full((p, p), np.nan), f"{g} clusters are too few for the standard errors of {p} coefficients"
    rows = design[pattern]
    scores = np.zeros((g, p))
    np.add.at(scores, codes, rows * fit.score[pattern, spotted][:, None])
    bread = np.linalg.inv((rows.T * fit.curvature[pattern, spotted]) @ rows)
    small_sample = g / (g - 1) * (n - 1) / (n - p)
    return small_sample * bread @ (scores.T @ scores) @ bread, None


def _wald(
    feature: str, estimate: float, model_error: float, uncertainty: Uncertainty, confidence_level: float
) -> CoxCoefficient:
    standard_error = uncertainty.standard_error
    low = high = p_value = None
    if standard_error is not None:
        degrees = uncertainty.degrees_of_freedom
        known = np.inf if degrees is None else degrees
        reach = float(student_quantiles((1 + confidence_level) / 2, known)) * standard_error
        low, high = float(estimate - reach), float(estimate + reach)
        p_value = float(2 * student_tails(abs(estimate) / standard_error, known))
    return CoxCoefficient(
        feature=feature,
        estimate=float(estimate),
        standard_error=standard_error,
        model_standard_error=float(model_error),
        low=low,
        high=high,
        p_value=p_value,
        uncertainty=uncertainty,
        reason=uncertainty.reason,
    )


def _unknown(feature: str, who: Observations, reason: str) -> CoxCoefficient:
    nothing = _uncertainty(who, Clusters.NONE, None, reason)
    return CoxCoefficient(feature, None, None, None, None, None, None, nothing, reason)


def _uncertainty(
    who: Observations, clusters: Clusters, standard_error: float | None, reason: str | None
) -> Uncertainty:
    return Uncertainty(
        standard_error=standard_error,
        degrees_of_freedom=None,
        conversations=len(np.unique(who.conversation)),
        annotators=len(np.unique(who.annotator)),
        clusters=clusters,
        reason=reason,
    )
