"""The methods behind the measures of a protocol, in prose with citations."""

from typing import Final

from spotthebot.analytics.figures.labels import percent
from spotthebot.contracts.analytics.measures import MeasureOut
from spotthebot.local.report.design import Design
from spotthebot.local.report.findings import measure_finding, measure_words
from spotthebot.local.report.method_sentences import (
    Cite,
    agreement_sentence,
    annotation_words,
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
    "Each measure has ranks and tests of its own: the correction is for the pairs of one measure, not for the number of"
    " measures."
)
_PUBLISHED: Final = "Published forms take all values as independent: they have the plain intervals that ABC-Eval prints"


def measure_methods(headline: MeasureOut, design: Design | None) -> Prose:
    """Describe how the results were made; only the methods that were used are cited."""
    citations = Citations()
    cite, counts = citations.cite, headline.counts
    sentences = [
        (
            f"{_protocol(design)}{annotator_words(counts)} saw {counts.annotated_conversations:,} conversations"
            f" ({annotation_words(counts, headline)})."
        ),
        _ranks(headline, cite),
        cluster_sentence(headline, cite),
        *text_sentences(headline),
        *judge_sentences(counts.judges),
        (
            f"Pairs: {headline.pairs_method}, {correction_words(headline, cite)}; the level is"
            f" {headline.significance_level:g}. Intervals are at {percent(headline.confidence_level)}."
        ),
        f"{_PUBLISHED} {cite('finch2023')}, for comparison with published figures.",
        agreement_sentence(f"Krippendorff's alpha {cite('krippendorff2011')}", headline, cite),
        sample_sentence(headline),
        _ASSUMPTIONS,
        origin_sentence(headline, "annotations"),
    ]
    return Prose(tuple(sentences), citations.works)


def _protocol(design: Design | None) -> str:
    if design is None:
        return ""
    return (
        f"Bots were evaluated by the protocol {design.campaign.protocol}, version {design.campaign.protocol_version}: "
    )


def _ranks(headline: MeasureOut, cite: Cite) -> str:
    if headline.reason is not None:
        return measure_finding(headline, headline)
    ranks = f"{headline.rank_method} {cite('mogstad2024')}"
    return f"Bots are ranked by {measure_words(headline)}: {headline.method}; ranks: {ranks}."
