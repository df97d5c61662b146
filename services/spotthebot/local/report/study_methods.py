"""The methods behind a study's results and the assessment of its measures, in prose with citations."""

from typing import Final

from spotthebot.analytics.figures.labels import percent
from spotthebot.contracts.analytics.measures import MeasureOut
from spotthebot.contracts.analytics.studies import StudyAssessmentOut, StudyMeasuresOut, StudySource
from spotthebot.local.report.findings import measure_words
from spotthebot.local.report.method_sentences import (
    Cite,
    agreement_sentence,
    annotator_words,
    cluster_sentence,
    correction_words,
    judge_sentences,
    origin_sentence,
    sample_sentence,
    text_sentences,
)
from spotthebot.local.report.references import Citations, Prose

_ASSUMPTIONS: Final = (
    "Each measure has ranks and tests of its own: corrections are for the pairs of one measure, not for the number of"
    " measures."
)


def study_methods(every: StudyMeasuresOut, outcome: MeasureOut | None, assessment: StudyAssessmentOut | None) -> Prose:
    """Describe how the results were made; only the methods that were used are cited."""
    citations = Citations()
    cite = citations.cite
    sentences = [
        f"{'; '.join(_source_words(each) for each in every.sources)}.",
        *([] if outcome is None else [_ranks(outcome, cite)]),
        cluster_sentence(every, cite),
        *(() if outcome is None else text_sentences(outcome)),
        *judge_sentences(sum(each.judges for each in every.sources)),
        f"Intervals are at {percent(every.confidence_level)}, the level of tests is {every.significance_level:g}.",
        agreement_sentence(f"Krippendorff's alpha {cite('krippendorff2011')}", every, cite),
        *([] if assessment is None else _assessment_sentences(assessment, cite)),
        sample_sentence(every),
        _ASSUMPTIONS,
        origin_sentence(every, "data"),
    ]
    return Prose(tuple(sentences), citations.works)


def _chatted(source: StudySource) -> str:
    people = f"{source.annotators - source.programs:,} people who chatted"
    return f"{people} and {source.programs:,} programs" if source.programs else people


def _source_words(source: StudySource) -> str:
    if source.kind == "scores":
        return f"{source.task}: FED scored the bots, without annotators"
    if source.kind == "latency":
        return f"{source.task}: seconds that bots took for their replies were measured, without annotators"
    if source.kind == "chats":
        return f"{source.task}: {source.annotations:,} chats were rated by {_chatted(source)}"
    counted = f"{source.annotations:,} annotations by {annotator_words(source)}"
    return f"{source.task}: {counted}, by the protocol {source.protocol}"


def _ranks(outcome: MeasureOut, cite: Cite) -> str:
    if outcome.reason is not None:
        return f"Bots are not ranked by {measure_words(outcome)}: {outcome.reason.rstrip('.')}."
    return (
        f"Bots are ranked by {measure_words(outcome)}: {outcome.method}; ranks: {outcome.rank_method}"
        f" {cite('mogstad2024')}. Pairs: {outcome.pairs_method}, {correction_words(outcome, cite)}."
    )


def _assessment_sentences(assessment: StudyAssessmentOut, cite: Cite) -> list[str]:
    methods = "; ".join(dict.fromkeys(each.method for each in assessment.measures if each.r2 is not None))
    explained = f" R² and p-values: {methods}." if methods else ""
    stepwise = f" Sets of measures: {assessment.stepwise_method}." if assessment.stepwise else ""
    return [
        (
            f"Measures are assessed against {assessment.outcome} as ABC-Eval assesses them {cite('finch2023')}: a"
            f" measure's value of a dialogue is the mean of all its values.{explained}{stepwise}"
        )
    ]
