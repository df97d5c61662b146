"""The quality of the annotations: agreement, the annotators, and the time that annotations took."""

from spotthebot.analytics import stats
from spotthebot.analytics.domain.parameters import Parameters
from spotthebot.analytics.domain.results.uncertainty import uncertainty_of
from spotthebot.analytics.domain.study import Sample
from spotthebot.contracts.analytics.annotation_quality import (
    Agreement,
    Annotator,
    Annotators,
    Coefficient,
    LabelAgreement,
    SidesAlike,
    Time,
    TimeOfSegment,
    WithoutWeak,
)


def agreement(sample: Sample, request: Parameters) -> Agreement:
    """Compare what annotators say of the same side."""
    table, level, clusters = sample.table, request.confidence_level, stats.Clusters(request.clusters)
    labels = stats.label_agreement(table, confidence_level=level, clusters=clusters)
    ordinal, nominal = (
        stats.label_alpha(table, level=each, confidence_level=level, clusters=clusters)
        for each in (stats.Measurement.ORDINAL, stats.Measurement.NOMINAL)
    )
    unit, conversation, annotator, label = stats.label_units(table)
    kappa = stats.fleiss_kappa(
        unit, label, conversation=conversation, annotator=annotator, confidence_level=level, clusters=clusters
    )
    return Agreement(
        labels=tuple(
            LabelAgreement(
                bot=each.bot,
                label=each.label.name.lower(),
                agree=each.agree,
                total=each.n,
                rate=each.estimate,
                low=each.low,
                high=each.high,
                uncertainty=uncertainty_of(each.uncertainty),
            )
            for each in labels
        ),
        method=stats.AgreementRule.PUBLISHED.method,
        alpha=ordinal.estimate,
        alpha_interval=_coefficient(ordinal),
        alpha_nominal=_coefficient(nominal),
        fleiss_kappa=_coefficient(kappa),
    )


def annotators(sample: Sample, request: Parameters) -> Annotators:
    """Measure how often annotators are right, and rank without the weak ones."""
    crowd = stats.annotator_quality(
        sample.table, confidence_level=request.confidence_level, clusters=stats.Clusters(request.clusters)
    )
    without = stats.without_weak_annotators(
        sample.table,
        unit=stats.Unit(request.unit),
        significance_level=request.significance_level,
        clusters=stats.Clusters(request.clusters),
        adjustment=stats.Adjustment(request.correction),
        n_resamples=request.resamples,
        seed=request.seed,
    )
    alike = stats.sides_alike(sample.table, n_resamples=request.resamples, seed=request.seed)
    return Annotators(
        n=crowd.n,
        correctness=crowd.correctness,
        correctness_low=crowd.correctness_low,
        correctness_high=crowd.correctness_high,
        uncertainty=uncertainty_of(crowd.uncertainty),
        method=crowd.method,
        human_correctness=crowd.human_correctness,
        share_below_half=crowd.share_below_half,
        annotators=tuple(
            Annotator(
                annotator=sample.annotators[each.annotator],
                n=each.n,
                correctness=each.correctness,
                human_correctness=each.human_correctness,
                majority_agreement=each.majority_agreement,
            )
            for each in crowd.annotators
        ),
        without_weak=tuple(
            WithoutWeak(
                threshold=each.threshold,
                annotators=each.annotators,
                annotations=each.annotations,
                kendall_tau=each.kendall_tau,
                moved=each.moved,
                method=each.method,
            )
            for each in without
        ),
        sides_alike=SidesAlike(
            observed=alike.estimate,
            expected=alike.expected,
            p_value=alike.p_value,
            n=alike.n,
            method=alike.method,
            reason=alike.reason,
        ),
    )


def time(sample: Sample, request: Parameters) -> Time:
    """Say how long an annotation takes."""
    times = stats.annotation_times(
        sample.elapsed_ms,
        sample.table.exchanges,
        sample.table.text,
        sample.table.annotator,
        confidence_level=request.confidence_level,
        clusters=stats.Clusters(request.clusters),
    )
    return Time(
        median_seconds=times.median_seconds,
        low=times.low,
        high=times.high,
        uncertainty=uncertainty_of(times.uncertainty),
        mean_seconds=times.mean_seconds,
        n=times.n,
        excluded=times.excluded,
        rule=times.method,
        segments=tuple(
            TimeOfSegment(exchanges=each.exchanges, n=each.n, median_seconds=each.median_seconds)
            for each in times.segments
        ),
        total_hours=times.total_hours,
    )


def _coefficient(found: stats.Alpha | stats.Kappa) -> Coefficient:
    return Coefficient(
        estimate=found.estimate,
        low=found.low,
        high=found.high,
        n=found.n,
        method=found.method,
        uncertainty=uncertainty_of(found.uncertainty),
        reason=found.reason,
    )
