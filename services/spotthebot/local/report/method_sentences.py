"""Sentences about methods that hold for every protocol: who annotated, clusters, corrections and agreement."""

from collections.abc import Callable
from typing import Final

from spotthebot.contracts.analytics.provenance import AnnotatorCounts, Counts, Provenance, Settings
from spotthebot.contracts.analytics.studies import StudyProvenance

Cite = Callable[[str], str]
"""Returns the number of a cited work."""

ONE_TEXT: Final = (
    "Conversations whose words are the same in the same order, as far as annotators saw them, were one conversation to"
    " every interval and test."
)
SAMPLE: Final = (
    "What the numbers assume: conversations and annotators are a sample of those they shall speak for, and packages"
    " were dealt to annotators without regard to the bots."
)
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


def agreement_sentence(coefficients: str, cite: Cite) -> str:
    """Return how agreement is measured; `coefficients` names its measures with their citations."""
    return (
        f"Agreement is given as {coefficients}, with intervals from each unit's influence on the coefficient; two units"
        f" vary together if they are of one conversation or share an annotator {cite('aronow2015')}."
    )
