"""Whether any labels of as many conversations and annotators could tell a pair of bots apart."""

from collections.abc import Sequence

from spotthebot.analytics.stats.design_reach import least_conversations_of_any, lowest_p
from spotthebot.analytics.stats.pair_power import Design
from spotthebot.contracts.analytics.provenance import Counts, Settings
from spotthebot.contracts.analytics.wins import PairResult


def too_few_labels(results: Sequence[PairResult], settings: Settings, counts: Counts) -> str | None:
    """Return a sentence if no labels of so many conversations and annotators could tell a pair apart, else None.

    The bound is of the default tests: None for results of other tests.
    """
    pairs = [pair for pair in results if pair.p_value is not None]
    conversations = max((pair.uncertainty.conversations for pair in pairs if pair.uncertainty is not None), default=0)
    is_default = (settings.test, settings.clusters) == ("clustered", "both") and settings.correction != "none"
    if not conversations or not is_default:
        return None
    each = max(1.0, counts.annotations / max(1, counts.annotated_conversations))
    design = Design(annotations_per_conversation=each, annotators=max(2, counts.annotators))
    least = lowest_p(conversations, design, n_pairs=len(pairs))
    if least < settings.significance_level:
        return None
    enough = least_conversations_of_any(design, significance_level=settings.significance_level, n_pairs=len(pairs))
    crowd = "this annotator" if counts.annotators == 1 else f"these {counts.annotators} annotators"
    number = "no number of conversations" if enough is None else f"{enough} conversations of each pair"
    return (
        "These were too few labels to tell any pair apart: no others of as many conversations and annotators give"
        f" an adjusted p-value below {least:.2g}. With {crowd}, {number} would do."
    )
