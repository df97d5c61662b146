"""Scores of contexts. Each context has one score for each dimension, with its length baseline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spotthebot.fed.dimension_sets.domain.dimensions import Dimension
from spotthebot.fed.likelihoods.domain import FoundContext, Tokens
from spotthebot.fed.scores.domain.length_baseline import LengthBaseline, context_length, fit_length_baseline
from spotthebot.fed.scores.domain.modes import ScoringRule
from spotthebot.fed.scores.domain.scoring import DimensionScore, score_dimension


@dataclass(frozen=True)
class ContextScore:
    """The score of one dimension after `turn` turns of a dialogue. Its length baseline is None if it is unknown.

    `length` counts the characters of the turns that the model read: all but the oldest `turns_left_out`.
    """

    dialogue: str
    turn: int
    turns_left_out: int
    length: int
    score: DimensionScore
    tokens: Tokens | None
    baseline: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the score and the values of its follow-ups, as plain JSON values."""
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


def score_context(
    dialogue: str, texts: Sequence[str], found: FoundContext, dimensions: Sequence[Dimension], rule: ScoringRule
) -> list[ContextScore]:
    """Return one context's score for each dimension. Raises LikelihoodUnusable.

    `texts` are the turns of the whole dialogue; `found` says how many of them the context has.
    """
    length = context_length(texts[found.turns_left_out : found.turns])
    return [
        ContextScore(
            dialogue=dialogue,
            turn=found.turns,
            turns_left_out=found.turns_left_out,
            length=length,
            score=score_dimension(found.likelihood, dimension, rule),
            tokens=found.tokens,
        )
        for dimension in dimensions
    ]


def fit_baselines(scores: Sequence[ContextScore]) -> dict[str, LengthBaseline | None]:
    """Fit the length baseline of each dimension to the scores and the lengths of the contexts."""
    by_dimension: dict[str, list[ContextScore]] = {}
    for each in scores:
        by_dimension.setdefault(each.score.dimension, []).append(each)
    return {
        name: fit_length_baseline([each.length for each in own], [each.score.score for each in own])
        for name, own in by_dimension.items()
    }


def with_baselines(
    scores: Sequence[ContextScore], baselines: Mapping[str, LengthBaseline | None]
) -> list[ContextScore]:
    """Return the scores with their length baselines."""
    return [
        each if line is None else replace(each, baseline=line.score_of(each.length))
        for each in scores
        for line in [baselines[each.score.dimension]]
    ]
