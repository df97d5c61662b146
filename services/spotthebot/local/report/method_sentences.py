"""Sentences about methods that hold for every protocol: who annotated, clusters, corrections and agreement."""

from collections.abc import Callable
from typing import Final

from spotthebot.contracts.analytics.provenance import AnnotatorCounts, Counts, Provenance, Settings
from spotthebot.contracts.analytics.studies import StudyProvenance
from spotthebot.statistics.uncertainty import Clusters

Cite = Callable[[str], str]
"""Returns the number of a cited work."""

_KEPT: Final = {
    "complete_packages": "packages that an annotator did not finish were left out",
    "none": "no annotation was left out",
}


def annotator_words(counts: AnnotatorCounts) -> str:
    """Return the number of annotators, and which of them are programs."""
    return f"{counts.annotator_words}{' (programs, not people)' if counts.programs else ''}"


def annotation_words(counts: Counts, settings: Settings) -> str:
    """Return the number of annotations, and which ones were left out."""
    return f"{counts.annotations:,} annotations; {_KEPT[settings.filter]}"


def text_sentences(result: Provenance) -> tuple[str, ...]:
    """Return that conversations of one text were one; nothing if no text repeats or conversations are no clusters."""
    sentence = (
        "Conversations whose words are the same in the same order, as far as annotators saw them, were one conversation"
        " to every interval and test that takes the annotations of one conversation to vary together."
    )
    return (sentence,) if result.repeated_texts and Clusters(result.clusters).has_conversations else ()


def sample_sentence(settings: Settings) -> str:
    """Return what all numbers assume of conversations, annotators and packages."""
    sampled = "conversations are" if settings.clusters == "fixed_panel" else "conversations and annotators are"
    return (
        f"What the numbers assume: {sampled} a sample of those they shall speak for, and packages were dealt to"
        " annotators without regard to the bots."
    )


def judge_sentences(judges: int) -> tuple[str, ...]:
    """Return where rates corrected by people's labels are; nothing without judges."""
    sentence = (
        "Labels of judges count like those of people and may be biased: `./stb campaigns judges` has rates that are"
        " corrected by people's labels."
    )
    return (sentence,) if judges else ()


def cluster_sentence(settings: Settings, cite: Cite) -> str:
    """Return which annotations vary together, and of whom intervals and tests speak."""
    if settings.clusters == "fixed_panel":
        return (
            "Intervals and tests speak of this panel of annotators: they say how far other conversations would have"
            " changed the results, and nothing of other annotators."
        )
    if settings.clusters == "both":
        return (
            "Annotations of one conversation and annotations of one annotator vary together, so variances add up both"
            f" kinds of clusters {cite('cameron2011')} by the jackknife {cite('mackinnon2023')}, with Student's t on"
            " effective degrees of freedom: results speak of other conversations and other annotators."
        )
    if settings.clusters == "none":
        return "Intervals take annotations for independent, which they are not: they are too narrow."
    return (
        f"Variances are those of clusters of one kind, {settings.clusters}s, by the jackknife {cite('mackinnon2023')}."
    )


def correction_words(settings: Settings, cite: Cite) -> str:
    """Return how the p-values of all pairs are corrected."""
    if settings.correction == "holm":
        return f"corrected by Holm's procedure {cite('holm1979')} over all pairs"
    return "corrected by Bonferroni over all pairs" if settings.correction == "bonferroni" else "without correction"


def origin_sentence(result: Provenance | StudyProvenance, data: str) -> str:
    """Return what the results were computed by and from; `data` names what the fingerprint is of."""
    return (
        f"Computed by spotthebot {result.version} with seed {result.seed} and filter {result.filter} from {data} with"
        f" the SHA-256 {result.data_sha256}."
    )


def agreement_sentence(coefficients: str, settings: Settings, cite: Cite) -> str:
    """Return how agreement is measured; `coefficients` names its measures with their citations."""
    clusters = Clusters(settings.clusters)
    shared = f" {cite('aronow2015')}" if clusters.has_annotators else ""
    return (
        f"Agreement is given as {coefficients}, with intervals from each unit's influence on the coefficient,"
        f" {clusters.words}{shared}."
    )
