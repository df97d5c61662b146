"""Scores of contexts by dimension, with their length baselines, from the log-likelihoods of follow-ups."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spotthebot.fed.dimension_sets.domain.dimensions import Dimension, Polarity
from spotthebot.fed.likelihoods.domain import ContextLikelihood, FoundContext, Tokens
from spotthebot.fed.scores.domain.length_baseline import LengthBaseline, context_length, fit_length_baseline
from spotthebot.fed.scores.domain.modes import Mode, PolarityChoice, ScoringRule, SetRule
from spotthebot.fed.scores.errors import FollowupsMissing, LikelihoodUnusable


@dataclass(frozen=True)
class FollowupValue:
    """A follow-up and its value, in nats. The mode defines the value: the likelier the follow-up, the lower."""

    text: str
    polarity: Polarity
    value: float


@dataclass(frozen=True)
class DimensionScore:
    """The score of a dimension, and the follow-ups that it was computed from. A higher score is better."""

    dimension: str
    score: float
    followups: tuple[FollowupValue, ...]


def score_dimension(likelihood: ContextLikelihood, dimension: Dimension, rule: ScoringRule) -> DimensionScore:
    """Return the score of one dimension: the value of its negative follow-ups minus the value of its positive ones.

    A dimension without positive follow-ups has the value 0 for them, as in the authors' released code: its score is the
    value of the negative follow-ups. Raises LikelihoodUnusable for a follow-up without a finite likelihood.

    >>> from spotthebot.fed.likelihoods.domain import FollowupLikelihood
    >>> likely, unlikely = FollowupLikelihood(nll=2.0, tokens=4), FollowupLikelihood(nll=12.0, tokens=4)
    >>> found = ContextLikelihood({"I like you!": likely, "I don't like you.": unlikely})
    >>> likeable = Dimension("likeable", positive=("I like you!",), negative=("I don't like you.",))
    >>> score_dimension(found, likeable, ScoringRule(Mode.FOLLOWUP_MEAN)).score
    2.5
    """
    values = tuple(
        FollowupValue(text, polarity, followup_value(likelihood, text, rule.mode))
        for polarity, text in dimension.followups
        if polarity in _COUNTED[rule.polarity]
    )
    high, low = (
        _sum_up([each.value for each in values if each.polarity is polarity], rule.set_rule)
        for polarity in (Polarity.POSITIVE, Polarity.NEGATIVE)
    )
    return DimensionScore(dimension.name, low - high, values)


def followup_value(likelihood: ContextLikelihood, text: str, mode: Mode) -> float:
    """Return the value of a follow-up, in nats; raises LikelihoodUnusable.

    `whole_sequence_mean` equals the loss in the authors' released code: the mean over all tokens of context and
    follow-up but the first.
    """
    followup = likelihood.followups.get(text)
    if followup is None:
        raise LikelihoodUnusable(text=text, reason="the request to the model left it out")
    total, tokens = followup.nll, followup.tokens
    if mode is Mode.WHOLE_SEQUENCE_MEAN:
        if likelihood.nll is None:
            raise LikelihoodUnusable(
                text=text, reason="the mean over the whole sequence needs the context's likelihood"
            )
        total, tokens = total + likelihood.nll, tokens + likelihood.predicted_tokens
    if not math.isfinite(total):
        raise LikelihoodUnusable(text=text, reason=f"the model answered {total}, not a finite number")
    if followup.tokens < 1:
        raise LikelihoodUnusable(text=text, reason="it has no tokens")
    return total if mode is Mode.FOLLOWUP_SUM else total / tokens


def require_followups(dimensions: Iterable[Dimension], polarity: PolarityChoice) -> None:
    """Raise FollowupsMissing if the choice of polarity leaves a dimension without any follow-up.

    The score of such a dimension would always be 0.
    """
    counted = _COUNTED[polarity]
    empty = [each.name for each in dimensions if not any(kind in counted for kind, _ in each.followups)]
    if empty:
        raise FollowupsMissing(names=", ".join(empty), polarity=" or ".join(sorted(counted)))


_COUNTED = {
    PolarityChoice.BOTH: frozenset(Polarity),
    PolarityChoice.NEGATIVES: frozenset({Polarity.NEGATIVE}),
    PolarityChoice.POSITIVES: frozenset({Polarity.POSITIVE}),
}


def _sum_up(values: list[float], rule: SetRule) -> float:
    total = math.fsum(values)
    return total / max(len(values), 1) if rule is SetRule.MEAN else total


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
