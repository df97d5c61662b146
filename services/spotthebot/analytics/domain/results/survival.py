"""How long bots pass unnoticed, and what gives them away."""

from spotthebot.analytics import stats
from spotthebot.analytics.domain.parameters import Parameters
from spotthebot.analytics.domain.study import FEATURES, Sample
from spotthebot.contracts.analytics import CoxCoefficient, LogRank, Survival, SurvivalCurve


def survival(sample: Sample, request: Parameters) -> Survival:
    """Estimate the curves, compare each two, and fit what the features change."""
    status = stats.current_status(sample.table)
    times = tuple(status.times.tolist())
    curves = stats.survival_curves(
        status, confidence_level=request.confidence_level, n_resamples=request.resamples, seed=request.seed
    )
    tests = stats.log_rank_tests(status, adjustment=stats.Adjustment(request.correction))
    return Survival(
        times=times,
        method=curves[0].method if curves else "",
        curves=tuple(_curve(curve, times) for curve in curves),
        log_rank=tuple(_log_rank(test, 1 - request.confidence_level) for test in tests),
        cox=_cox(status, request.confidence_level),
    )


def _cox(status: stats.CurrentStatus, confidence_level: float) -> tuple[CoxCoefficient, ...]:
    fits = stats.cox_regressions(status, features=FEATURES, confidence_level=confidence_level)
    clustered = stats.cox_regressions(
        status,
        features=FEATURES,
        confidence_level=confidence_level,
        standard_errors=stats.StandardErrors.ANNOTATOR,
    )
    return tuple(
        CoxCoefficient(
            bot=fit.bot,
            feature=coefficient.feature,
            coefficient=coefficient.estimate,
            standard_error=coefficient.standard_error,
            low=coefficient.low,
            high=coefficient.high,
            p_value=coefficient.p_value,
            clustered_standard_error=robust.standard_error,
            separated=fit.separated,
            reason=coefficient.reason,
        )
        for fit, other in zip(fits, clustered, strict=True)
        for coefficient, robust in zip(fit.coefficients, other.coefficients, strict=True)
    )


def _log_rank(test: stats.LogRankTest, alpha: float) -> LogRank:
    return LogRank(
        bot=test.bot,
        other=test.other,
        statistic=test.statistic,
        p_value=test.p_value,
        p_adjusted=test.p_adjusted,
        significant=test.p_adjusted is not None and test.p_adjusted < alpha,
        reason=test.reason,
    )


def _curve(curve: stats.SurvivalCurve, times: tuple[int, ...]) -> SurvivalCurve:
    """Put a curve on the common times: null where this bot was not inspected."""
    estimate = dict(zip(curve.times, curve.estimate, strict=True))
    low = dict(zip(curve.times, curve.low, strict=True))
    high = dict(zip(curve.times, curve.high, strict=True))
    inspected = dict(zip(curve.times, curve.inspected, strict=True))
    spotted = dict(zip(curve.times, curve.spotted, strict=True))
    return SurvivalCurve(
        bot=curve.bot,
        survival=tuple(estimate.get(time) for time in times),
        low=tuple(low.get(time) for time in times),
        high=tuple(high.get(time) for time in times),
        inspected=tuple(inspected.get(time, 0) for time in times),
        spotted=tuple(spotted.get(time, 0) for time in times),
    )
