"""Scores dialogues batch by batch with a model in this process, and puts what length says beside each score."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from spotthebot.fed.domain.dimensions import Dimension, unique_followups
from spotthebot.fed.domain.errors import LikelihoodUnusable
from spotthebot.fed.domain.length_baseline import LengthBaseline, context_length, fit_length_baseline
from spotthebot.fed.domain.modes import ScoringRule
from spotthebot.fed.domain.scoring import (
    ContextLikelihood,
    DimensionScore,
    FollowupLikelihood,
    require_followups,
    score_dimension,
)
from spotthebot.inference.models import BatchModel
from spotthebot.inference.models.batch import run_batch
from spotthebot.suite.scores.dialogue_files import DialogueToScore, ReadDialogues, RejectedDialogue

_DIALOGUES_AT_ONCE: Final = 16
Tokens = Mapping[str, Sequence[float]]
"""The log-probabilities of a follow-up's tokens, by its text."""


@dataclass(frozen=True)
class ScoringOptions:
    """All that scores depend on beside dialogues and model; without a `join` the model chooses.

    Raises FollowupsMissing.
    """

    dimensions: tuple[Dimension, ...]
    rule: ScoringRule
    over_long: str = "error"
    join: str | None = None
    tokens: bool = False

    def __post_init__(self) -> None:
        require_followups(self.dimensions, self.rule.polarity)


@dataclass(frozen=True)
class ContextScore:
    """One dimension of a dialogue after so many turns, and what length alone says, None where it can't be known.

    `length` counts characters of the turns that were scored: all but the oldest `turns_left_out`.
    """

    dialogue: str
    turn: int
    turns_left_out: int
    length: int
    score: DimensionScore
    tokens: Tokens | None
    baseline: float | None = None

    def to_json(self) -> dict[str, Any]:
        followups = [
            {"text": each.text, "polarity": each.polarity.value, "value": each.value}
            | ({} if self.tokens is None else {"token_log_probabilities": list(self.tokens[each.text])})
            for each in self.score.followups
        ]
        return {
            "id": self.dialogue,
            "turn": self.turn,
            "dimension": self.score.dimension,
            "score": self.score.score,
            "length_baseline": self.baseline,
            "turns_left_out": self.turns_left_out,
            "followups": followups,
        }


@dataclass(frozen=True)
class Scored:
    """All scores by dialogue, turn and dimension; the baselines by dimension; and what could not be scored."""

    scores: tuple[ContextScore, ...]
    baselines: Mapping[str, LengthBaseline | None]
    rejected: tuple[RejectedDialogue, ...]


def score_dialogues(
    model: BatchModel[Any], read: ReadDialogues, options: ScoringOptions, on_progress: Callable[[int], None]
) -> Scored:
    """Score what was read; `on_progress` is given the number of dialogues that are done.

    A dialogue that the model can't score, such as one that is too long, is rejected alone.
    """
    scores: list[ContextScore] = []
    rejected = list(read.rejected)
    followups = unique_followups(options.dimensions)
    for start in range(0, len(read.dialogues), _DIALOGUES_AT_ONCE):
        batch = read.dialogues[start : start + _DIALOGUES_AT_ONCE]
        requests = [json.dumps(_request(each, followups, options)) for each in batch]
        for each, result in zip(batch, run_batch(model, requests), strict=True):
            try:
                scores += [*_scores(each, result, followups, options)]
            except (LikelihoodUnusable, _Refused) as error:
                rejected.append(RejectedDialogue(each.line, str(error)))
        on_progress(start + len(batch))
    rejected.sort(key=lambda each: each.line)
    return _with_baselines(scores, options.dimensions, tuple(rejected))


class _Refused(Exception):
    """The model's reason, in its own words."""


def _request(each: DialogueToScore, followups: Sequence[str], options: ScoringOptions) -> Mapping[str, Any]:
    return {
        "turns": each.dialogue.texts,
        "ends": each.ends,
        "followups": followups,
        "join": None if options.join is None else {"form": options.join},
        "over_long": options.over_long,
        "context_likelihood": options.rule.needs_context_likelihood,
        "tokens": options.tokens,
    }


def _scores(
    each: DialogueToScore, result: Mapping[str, Any], followups: Sequence[str], options: ScoringOptions
) -> Iterator[ContextScore]:
    if "error" in result:
        raise _Refused(result["error"])
    for context in result["contexts"]:
        found = dict(zip(followups, context["followups"], strict=True))
        likelihood = ContextLikelihood(
            followups={text: FollowupLikelihood(value["nll"], value["tokens"]) for text, value in found.items()},
            nll=context["context_nll"],
            predicted_tokens=context["context_predicted_tokens"],
        )
        tokens = {text: value["token_log_probabilities"] for text, value in found.items()} if options.tokens else None
        scored_turns = each.dialogue.texts[context["turns_left_out"] : context["turns"]]
        for dimension in options.dimensions:
            yield ContextScore(
                dialogue=each.dialogue.id,
                turn=context["turns"],
                turns_left_out=context["turns_left_out"],
                length=context_length(scored_turns),
                score=score_dimension(likelihood, dimension, options.rule),
                tokens=tokens,
            )


def _with_baselines(
    scores: Sequence[ContextScore], dimensions: Sequence[Dimension], rejected: tuple[RejectedDialogue, ...]
) -> Scored:
    baselines: dict[str, LengthBaseline | None] = {}
    for dimension in dimensions:
        own = [each for each in scores if each.score.dimension == dimension.name]
        lengths, values = [each.length for each in own], [each.score.score for each in own]
        baselines[dimension.name] = fit_length_baseline(lengths, values)

    def stood_beside(each: ContextScore) -> ContextScore:
        line = baselines[each.score.dimension]
        return each if line is None else replace(each, baseline=line.score_of(each.length))

    return Scored(tuple(map(stood_beside, scores)), baselines, rejected)
