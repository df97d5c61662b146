"""Likelihoods of follow-ups and contexts, as sums over tokens: FED's modes and dimensions are arithmetic on them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FollowupLikelihood:
    """The negative log-likelihood of a follow-up given its context: a sum over its tokens, in nats.

    `context_nll` sums over the `context_tokens` last tokens of its context, where other follow-ups have other ones and
    the likelihood of the context was asked for: some tokenizers join a template's blank to some follow-ups only.
    """

    nll: float
    tokens: int
    context_nll: float | None = None
    context_tokens: int | None = None
    token_log_probabilities: tuple[float, ...] | None = None


@dataclass(frozen=True)
class ContextLikelihood:
    """The follow-ups' likelihoods after so many turns, in the order of the request.

    `turns_left_out` counts the oldest turns that a context too long for the model lost. `context_nll`, where it was
    asked for, is a sum in nats over `context_predicted_tokens`: all tokens of the context but the first, those that the
    join puts before the follow-up included; an encoder predicts none. So the loss of the released FED code, a mean over
    the whole sequence, is (context_nll + nll) / (context_predicted_tokens + tokens), where a follow-up's own
    `context_nll` and `context_tokens` are added if there are any.
    """

    turns: int
    turns_left_out: int
    context_tokens: int
    context_nll: float | None
    context_predicted_tokens: int
    followups: tuple[FollowupLikelihood, ...]

    @property
    def is_finite(self) -> bool:
        """Whether all sums are numbers; a damaged model answers NaN."""
        return all(math.isfinite(nll) for nll in (self.context_nll or 0.0, *(each.nll for each in self.followups)))

    def to_json(self) -> Mapping[str, Any]:
        """Return plain JSON values; `token_log_probabilities` are there only if asked for."""
        return {**vars(self), "followups": [_without_none(vars(each)) for each in self.followups]}


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
