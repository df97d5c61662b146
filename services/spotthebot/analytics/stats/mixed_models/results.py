"""Results of mixed models: the effect of each bot, all differences, and the variance components.

Intervals and p-values are Wald's, from the normal distribution, as `lme4` and `ordinal` print z. They take dialogues
and annotators as the only sources of dependence. They are a published form, not the suite's inference: if annotators
differ in their taste for bots, four equal bots are told apart in a fifth of studies by 6 annotators, not in 5 %
(benchmarks/analytics/README.md). The suite's own test of ratings is `rating_differences`.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.rating_estimates import Ratings
from spotthebot.statistics.adjustment import Adjustment, adjust
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.choices import choice_of

FORM: Final = (
    "bots fixed, dialogues and annotators random intercepts, Wald's z: a published form, not the suite's inference"
)
_UNRATED: Final = "it has no ratings"


@dataclass(frozen=True)
class BotEffect:
    """One bot's effect with its standard error and Wald bounds. `n` counts its ratings.

    In a linear model, it is the expected rating. In a cumulative link model, it is the bot's place on the logit scale
    minus the mean of all bots' places. Without a fit there are no numbers, and `reason` says why.
    """

    bot: str
    estimate: float | None
    standard_error: float | None
    low: float | None
    high: float | None
    n: int
    reason: str | None


@dataclass(frozen=True)
class EffectDifference:
    """The effect of `bot` minus the effect of `other`, with a Wald test. `n` counts the ratings of both bots."""

    bot: str
    other: str
    estimate: float | None
    standard_error: float | None
    low: float | None
    high: float | None
    p_value: float | None
    p_adjusted: float | None
    n: int
    reason: str | None


@dataclass(frozen=True)
class VarianceComponent:
    """The standard deviation of one grouping's intercepts, or of the residuals, over `n_groups` groups.

    A deviation of 0 is the bound of its range. `reason` says so.
    """

    grouping: str
    standard_deviation: float
    n_groups: int
    reason: str | None


@dataclass(frozen=True)
class MixedModel:
    """A fitted mixed model. `bots` have the order of the ratings' bots, `pairs` are all unordered pairs of them.

    `thresholds` separate adjacent `categories` on the logit scale, for a bot with the effect 0. A linear model has
    none. Without a fit, `reason` says why, and `components` are empty.
    """

    bots: tuple[BotEffect, ...]
    pairs: tuple[EffectDifference, ...]
    components: tuple[VarianceComponent, ...]
    categories: tuple[float, ...]
    thresholds: tuple[float, ...]
    log_likelihood: float | None
    confidence_level: float
    adjustment: Adjustment
    n: int
    method: str
    reason: str | None


@dataclass(frozen=True, eq=False)
class Fit:
    """Effects of the rated bots (k,) with their covariance (k, k), and the other parameters of a fitted model.

    `rated` has the codes of these bots (k,). Effects and covariance are in units of `unit` of the ratings.
    """

    rated: IntArray
    effects: FloatArray
    covariance: FloatArray
    components: tuple[VarianceComponent, ...]
    log_likelihood: float
    unit: float = 1.0
    categories: tuple[float, ...] = ()
    thresholds: tuple[float, ...] = ()


def model_of(
    ratings: Ratings,
    fit: Fit | str,
    *,
    confidence_level: float = 0.95,
    adjustment: Adjustment = Adjustment.HOLM,
    method: str,
) -> MixedModel:
    """Return a fit, or the reason why there is none, as a result. Raises `SettingOutOfRange`."""
    require_confidence_level(confidence_level)
    adjustment = choice_of("adjustment", adjustment, Adjustment)
    reason = fit if isinstance(fit, str) else None
    k = len(ratings.bots)
    estimate, covariance = np.full(k, np.nan), np.full((k, k), np.nan)
    if isinstance(fit, Fit):
        estimate[fit.rated] = fit.effects
        covariance[np.ix_(fit.rated, fit.rated)] = fit.covariance
    n = np.bincount(ratings.bot, minlength=k)
    quantile = float(scipy.special.ndtri((1 + confidence_level) / 2))
    unit = fit.unit if isinstance(fit, Fit) else 1.0
    return MixedModel(
        bots=_effects(ratings.bots, n, estimate, np.sqrt(np.diag(covariance)), unit, quantile, reason),
        pairs=_differences(ratings.bots, n, estimate, covariance, unit, quantile, adjustment, reason),
        components=fit.components if isinstance(fit, Fit) else (),
        categories=fit.categories if isinstance(fit, Fit) else (),
        thresholds=fit.thresholds if isinstance(fit, Fit) else (),
        log_likelihood=fit.log_likelihood if isinstance(fit, Fit) else None,
        confidence_level=confidence_level,
        adjustment=adjustment,
        n=len(ratings.value),
        method=method,
        reason=reason,
    )


def _effects(
    names: tuple[str, ...],
    n: IntArray,
    estimate: FloatArray,
    errors: FloatArray,
    unit: float,
    quantile: float,
    reason: str | None,
) -> tuple[BotEffect, ...]:
    return tuple(
        BotEffect(
            bot=names[at],
            estimate=defined(estimate[at] * unit),
            standard_error=defined(errors[at] * unit),
            low=defined((estimate[at] - quantile * errors[at]) * unit),
            high=defined((estimate[at] + quantile * errors[at]) * unit),
            n=int(n[at]),
            reason=reason or (None if n[at] else _UNRATED),
        )
        for at in range(len(names))
    )


def _differences(
    names: tuple[str, ...],
    n: IntArray,
    estimate: FloatArray,
    covariance: FloatArray,
    unit: float,
    quantile: float,
    adjustment: Adjustment,
    reason: str | None,
) -> tuple[EffectDifference, ...]:
    first, second = np.triu_indices(len(names), 1)
    variance = np.diag(covariance)
    gaps = estimate[first] - estimate[second]
    errors = np.sqrt(variance[first] + variance[second] - 2 * covariance[first, second])
    p_values = 2 * scipy.special.ndtr(-np.abs(gaps) / errors)
    adjusted = adjust(p_values, adjustment)
    return tuple(
        EffectDifference(
            bot=names[one],
            other=names[two],
            estimate=defined(gaps[at] * unit),
            standard_error=defined(errors[at] * unit),
            low=defined((gaps[at] - quantile * errors[at]) * unit),
            high=defined((gaps[at] + quantile * errors[at]) * unit),
            p_value=defined(p_values[at]),
            p_adjusted=defined(adjusted[at]),
            n=int(n[one] + n[two]),
            reason=reason or _unrated(names, n, one, two),
        )
        for at, (one, two) in enumerate(zip(first.tolist(), second.tolist(), strict=True))
    )


def _unrated(names: tuple[str, ...], n: IntArray, one: int, two: int) -> str | None:
    unrated = [names[at] for at in (one, two) if not n[at]]
    return f"{' and '.join(unrated)}: no ratings" if unrated else None
