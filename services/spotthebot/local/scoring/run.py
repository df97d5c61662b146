"""Scores dialogues batch by batch with a model in this process, and computes the length baselines."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from spotthebot.fed.dialogues.domain.published_data import DIMENSION_OF_LABEL
from spotthebot.fed.dialogues.errors import DialogueUnusable
from spotthebot.fed.dimension_sets.domain.dimensions import Dimension, unique_followups
from spotthebot.fed.likelihoods.domain import LikelihoodOptions, found_contexts
from spotthebot.fed.scores.domain.length_baseline import LengthBaseline
from spotthebot.fed.scores.domain.modes import ScoringRule
from spotthebot.fed.scores.domain.scoring import (
    ContextScore,
    fit_baselines,
    require_followups,
    score_context,
    with_baselines,
)
from spotthebot.fed.scores.errors import LikelihoodUnusable
from spotthebot.fed.stats.correlation import Correlation, correlation, lead_over_length
from spotthebot.fed.stats.means import group_means
from spotthebot.fed.stats.split_half import split_half
from spotthebot.inference.models.batch import run_batch
from spotthebot.inference.models.protocol import BatchModel
from spotthebot.kit.text.words import text_hash
from spotthebot.local.scoring.dialogue_files import DialogueToScore, ReadDialogues, RejectedDialogue

_DIALOGUES_AT_ONCE: Final = 16
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


@dataclass(frozen=True)
class ScoringOptions:
    """All options that affect scores. `join` is the form in which turns become one text; None: the model's own form.

    Raises FollowupsMissing.
    """

    dimensions: tuple[Dimension, ...]
    rule: ScoringRule
    over_long: str = "error"
    join: str | None = None
    tokens: bool = False

    def __post_init__(self) -> None:
        require_followups(self.dimensions, self.rule.polarity)

    @property
    def likelihoods(self) -> LikelihoodOptions:
        """The likelihoods to request from the model."""
        return LikelihoodOptions(
            followups=unique_followups(self.dimensions),
            join=None if self.join is None else {"form": self.join},
            over_long=self.over_long,
            context_likelihood=self.rule.needs_context_likelihood,
            tokens=self.tokens,
        )


@dataclass(frozen=True)
class Scored:
    """All scores by dialogue, turn and dimension; length baselines by dimension; and rejected dialogues."""

    scores: tuple[ContextScore, ...]
    baselines: Mapping[str, LengthBaseline | None]
    rejected: tuple[RejectedDialogue, ...]


def score_dialogues(
    model: BatchModel[Any], read: ReadDialogues, options: ScoringOptions, on_progress: Callable[[int], None]
) -> Scored:
    """Score the dialogues that were read; `on_progress` gets the number of dialogues that are done.

    If the model can't score a dialogue, for example because it is too long, only this dialogue is rejected.
    """
    scores: list[ContextScore] = []
    rejected = list(read.rejected)
    asked = options.likelihoods
    for start in range(0, len(read.dialogues), _DIALOGUES_AT_ONCE):
        batch = read.dialogues[start : start + _DIALOGUES_AT_ONCE]
        requests = [json.dumps(asked.request(each.dialogue.texts, each.ends)) for each in batch]
        for each, result in zip(batch, run_batch(model, requests), strict=True):
            try:
                scores += _scores(each, result, options)
            except (DialogueUnusable, LikelihoodUnusable) as refused:
                rejected.append(RejectedDialogue(each.line, refused.reason))
        on_progress(start + len(batch))
    rejected.sort(key=lambda each: each.line)
    baselines = dict.fromkeys((each.name for each in options.dimensions), None) | fit_baselines(scores)
    return Scored(tuple(with_baselines(scores, baselines)), baselines, tuple(rejected))


def _scores(each: DialogueToScore, result: Mapping[str, Any], options: ScoringOptions) -> list[ContextScore]:
    found = found_contexts(result, options.likelihoods)
    identity, texts = each.dialogue.id, each.dialogue.texts
    rows = [score_context(identity, texts, context, options.dimensions, options.rule) for context in found]
    return [score for row in rows for score in row]


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
