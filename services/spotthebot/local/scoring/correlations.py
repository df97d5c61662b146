"""Correlates FED's scores, and dialogues' lengths, with people's ratings in the published data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from spotthebot.fed.dialogues.domain.published_data import DIMENSION_OF_LABEL
from spotthebot.fed.scores.domain.context_scores import ContextScore
from spotthebot.fed.stats.correlation import Correlation, correlation, lead_over_length
from spotthebot.fed.stats.means import group_means
from spotthebot.fed.stats.split_half import split_half
from spotthebot.kit.text.words import text_hash
from spotthebot.local.scoring.dialogue_files import ReadDialogues
from spotthebot.local.scoring.run import Scored

_OVERALL: Final = "Overall"
_SPLITS: Final = 50


@dataclass(frozen=True)
class RatedCorrelations:
    """Spearman's rho of scores and of lengths with people's mean ratings of one label, and their difference (`lead`).

    If `dimension` is None, scores are means over all dimensions. `people` is the split-half correlation of the people
    who rated; None if it is not defined.
    """

    label: str
    dimension: str | None
    scores: Correlation
    lengths: Correlation
    lead: Correlation
    people: float | None


def correlate_ratings(read: ReadDialogues, scored: Scored) -> Iterator[RatedCorrelations]:
    """Yield the correlations for each label that people rated, if the label's dimension was scored."""
    ratings = {each.dialogue.id: each.ratings for each in read.dialogues}
    texts = {each.dialogue.id: text_hash(each.dialogue.texts).hex() for each in read.dialogues}
    for label in sorted({label for each in ratings.values() for label in each}):
        name = None if label == _OVERALL else DIMENSION_OF_LABEL.get(label, label.lower())
        own = [each for each in scored.scores if name is None or each.score.dimension == name]
        if own:
            yield _correlations(
                label, name, own, {each: given.get(label, ()) for each, given in ratings.items()}, texts
            )


def _correlations(
    label: str,
    dimension: str | None,
    own: list[ContextScore],
    ratings: Mapping[str, tuple[float, ...]],
    texts: Mapping[str, str],
) -> RatedCorrelations:
    dialogues, scores = group_means([each.score.score for each in own], [each.dialogue for each in own])
    lengths = list({each.dialogue: each.length for each in own}.values())
    given = [ratings[name] for name in dialogues]
    people = np.full((len(given), max(map(len, given))), np.nan)
    for row, values in zip(people, given, strict=True):
        row[: len(values)] = values
    _, rated = group_means(people.ravel(), np.repeat(np.arange(len(given)), people.shape[1]).tolist())
    own_texts = [texts[name] for name in dialogues]
    return RatedCorrelations(
        label=label,
        dimension=dimension,
        scores=correlation(scores, rated, dialogue=own_texts),
        lengths=correlation(lengths, rated, dialogue=own_texts),
        lead=lead_over_length(scores, rated, lengths, dialogue=own_texts),
        people=split_half(people, n_splits=_SPLITS).estimate,
    )
