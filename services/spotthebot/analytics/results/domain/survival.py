"""How long bots stay unspotted, and which features shorten that time."""

from spotthebot.analytics import stats
from spotthebot.analytics.labels.domain import Sample
from spotthebot.analytics.provenance.domain import Parameters, uncertainty_of
from spotthebot.contracts.analytics.survival import CoxCoefficient, LogRank, Survival, SurvivalCurve
from spotthebot.contracts.annotation.annotations import FEATURES


def survival(sample: Sample, request: Parameters) -> Survival:
    """Estimate the survival curves, compare each pair of curves, and fit the effects of the features."""
    status = stats.current_status(sample.table)
    times, method, curves = curves_of(status, request)
    return Survival(
        times=times,
        method=method,
        curves=curves,
        log_rank=log_rank_of(status, request),
        cox=cox_of(status, request),
    )


def survival_curves(
    table: stats.AnnotationTable, request: Parameters
) -> tuple[tuple[int, ...], tuple[SurvivalCurve, ...]]:
    """Return the inspection times of a table, and the curve of each speaker at these times."""
    times, _, curves = curves_of(stats.current_status(table), request)
    return times, curves


def curves_of(
    status: stats.CurrentStatus, request: Parameters
) -> tuple[tuple[int, ...], str, tuple[SurvivalCurve, ...]]:
    """Return the inspection times, the method and the curve of each speaker at these times."""
    times, clusters = tuple(status.times.tolist()), stats.Clusters(request.clusters)
    curves = stats.survival_curves(status, confidence_level=request.confidence_level, clusters=clusters)
    return times, curves[0].method if curves else "", tuple(curve_of(curve, times) for curve in curves)


def _is_clustered(request: Parameters) -> bool:
    return request.test == "clustered"


def cox_of(status: stats.CurrentStatus, request: Parameters) -> tuple[CoxCoefficient, ...]:
    """Fit the effects of the features on the hazard of each speaker."""
    clustered, model = (
        stats.cox_regressions(
            status,
            features=FEATURES,
            confidence_level=request.confidence_level,
            standard_errors=standard_errors,
            clusters=stats.Clusters(request.clusters),
        )
        for standard_errors in (stats.StandardErrors.CLUSTERED, stats.StandardErrors.MODEL)
    )
    return tuple(
        CoxCoefficient.of(
            coefficient,
            bot=fit.bot,
            coefficient=coefficient.estimate,
            clustered_standard_error=robust.standard_error,
            uncertainty=uncertainty_of(coefficient.uncertainty),
            separated=fit.separated,
        )
        for fit, other in zip(clustered if _is_clustered(request) else model, clustered, strict=True)
        for coefficient, robust in zip(fit.coefficients, other.coefficients, strict=True)
    )


def log_rank_of(status: stats.CurrentStatus, request: Parameters, *, exact: bool = False) -> tuple[LogRank, ...]:
    """Compare each pair of curves."""
    tests = stats.log_rank_tests(
        status,
        variance=stats.LogRankVariance.CLUSTERED if _is_clustered(request) else stats.LogRankVariance.SCORE,
        clusters=stats.Clusters(request.clusters),
        adjustment=stats.Adjustment(request.correction),
        exact=exact,
    )
    return tuple(
        LogRank.of(
            test,
            score=test.estimate,
            significant=test.p_adjusted is not None and test.p_adjusted < request.significance_level,
            uncertainty=uncertainty_of(test.uncertainty),
        )
        for test in tests
    )


def curve_of(curve: stats.SurvivalCurve, times: tuple[int, ...]) -> SurvivalCurve:
    """Return a curve at the common times. It is null at times at which this bot was not inspected."""
    estimate = dict(zip(curve.times, curve.estimate, strict=True))
    low = dict(zip(curve.times, curve.low, strict=True))
    high = dict(zip(curve.times, curve.high, strict=True))
    inspected = dict(zip(curve.times, curve.inspected, strict=True))
    spotted = dict(zip(curve.times, curve.spotted, strict=True))
    uncertainty = {time: uncertainty_of(found) for time, found in zip(curve.times, curve.uncertainty, strict=True)}
    return SurvivalCurve(
        bot=curve.bot,
        survival=tuple(estimate.get(time) for time in times),
        low=tuple(low.get(time) for time in times),
        high=tuple(high.get(time) for time in times),
        inspected=tuple(inspected.get(time, 0) for time in times),
        spotted=tuple(spotted.get(time, 0) for time in times),
        uncertainty=tuple(uncertainty.get(time) for time in times),
    )
