"""The quality of the annotations: agreement, the annotators, and the time that annotations took."""

import numpy as np

from spotthebot.analytics import stats
from spotthebot.analytics.labels.domain import Sample
from spotthebot.analytics.provenance.domain import Parameters, coefficient_of, uncertainty_of
from spotthebot.analytics.results.domain.sensitivity import ranks_of
from spotthebot.contracts.analytics.annotation_quality import (
    Agreement,
    Annotator,
    Annotators,
    LabelAgreement,
    LengthAgreement,
    SidesAlike,
    Time,
    WithoutWeak,
)
from spotthebot.contracts.annotation.annotations import AnnotatorKind


def agreement(sample: Sample, request: Parameters) -> Agreement:
    """Compare the labels that different annotators gave to the same side."""
    table, level, clusters = sample.table, request.confidence_level, stats.Clusters(request.clusters)
    labels = _of_labels(table, request)
    ordinal, nominal = (
        stats.label_alpha(table, level=each, confidence_level=level, clusters=clusters)
        for each in (stats.Measurement.ORDINAL, stats.Measurement.NOMINAL)
    )
    unit, conversation, annotator, label = stats.label_units(table)
    kappa = stats.fleiss_kappa(
        unit, label, conversation=conversation, annotator=annotator, confidence_level=level, clusters=clusters
    )
    return Agreement(
        labels=labels,
        by_length=tuple(
            LengthAgreement(**dict(each), exchanges=exchanges)
            for exchanges in np.unique(table.exchanges).tolist()
            for each in _of_labels(table.select(table.exchanges == exchanges), request)
        ),
        method=stats.AgreementRule.PUBLISHED.method,
        alpha=ordinal.estimate,
        alpha_interval=coefficient_of(ordinal),
        alpha_nominal=coefficient_of(nominal),
        fleiss_kappa=coefficient_of(kappa),
    )


def _of_labels(table: stats.AnnotationTable, request: Parameters) -> tuple[LabelAgreement, ...]:
    found = stats.label_agreement(
        table, confidence_level=request.confidence_level, clusters=stats.Clusters(request.clusters)
    )
    return tuple(
        LabelAgreement.of(
            each,
            label=each.label.name.lower(),
            total=each.n,
            rate=each.estimate,
            uncertainty=uncertainty_of(each.uncertainty),
        )
        for each in found
    )


def annotators(sample: Sample, request: Parameters) -> Annotators:
    """Measure how often annotators are right, and rank the bots without the weak annotators."""
    crowd = stats.annotator_quality(
        sample.table, confidence_level=request.confidence_level, clusters=stats.Clusters(request.clusters)
    )
    without = stats.without_weak_annotators(
        sample.table,
        thresholds=request.weak_thresholds,
        unit=stats.Unit(request.unit),
        weighting=stats.Weighting(request.weighting),
        significance_level=request.significance_level,
        clusters=stats.Clusters(request.clusters),
        adjustment=stats.Adjustment(request.correction),
        n_resamples=request.resamples,
        seed=request.seed,
    )
    alike = stats.sides_alike(sample.table, n_resamples=request.resamples, seed=request.seed)
    return Annotators.of(
        crowd,
        uncertainty=uncertainty_of(crowd.uncertainty),
        annotators=tuple(_annotator(sample, each) for each in crowd.annotators),
        without_weak=tuple(WithoutWeak.of(each, **ranks_of(each.ranking)) for each in without),
        sides_alike=SidesAlike.of(alike, observed=alike.estimate),
    )


def _annotator(sample: Sample, found: stats.AnnotatorQuality) -> Annotator:
    name = sample.annotators[found.annotator]
    return Annotator.of(found, annotator=name, kind=sample.kinds[name])


def time(sample: Sample, request: Parameters) -> Time:
    """Measure how long an annotation takes people; programs only if nobody else annotated."""
    table = sample.table
    by_person = np.array([sample.kinds[each] is AnnotatorKind.PERSON for each in sample.annotators], dtype=bool)
    of_people = by_person[table.annotator]
    counted = of_people if of_people.any() else np.ones(len(of_people), dtype=bool)
    times = stats.annotation_times(
        sample.elapsed_ms[counted],
        table.exchanges[counted],
        table.text[counted],
        table.annotator[counted],
        confidence_level=request.confidence_level,
        clusters=stats.Clusters(request.clusters),
    )
    rule = f"annotations by {'people' if of_people.any() else 'programs'}; {times.method}"
    return Time.of(times, uncertainty=uncertainty_of(times.uncertainty), rule=rule)
