"""Scores of contexts, dimension by dimension, with what length alone says beside each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spotthebot.fed.domain.dimensions import Dimension
from spotthebot.fed.domain.length_baseline import LengthBaseline, context_length, fit_length_baseline
from spotthebot.fed.domain.likelihoods import FoundContext, Tokens
from spotthebot.fed.domain.modes import ScoringRule
from spotthebot.fed.domain.scoring import DimensionScore, score_dimension


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
        """Return the score with the values of its follow-ups as plain JSON values."""
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
    """Score a context of a dialogue whose turns are `texts`; raises LikelihoodUnusable."""
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
    """Fit the scores of each dimension to the lengths of their contexts."""
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
    """Put beside each score what length alone says."""
    return [
        each if line is None else replace(each, baseline=line.score_of(each.length))
        for each in scores
        for line in [baselines[each.score.dimension]]
    ]
