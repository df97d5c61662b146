"""Likelihoods of follow-ups and contexts, as sums over tokens. FED's scores are computed from them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FollowupLikelihood:
    """The negative log-likelihood of a follow-up given its context: `nll` is the sum over its tokens, in nats.

    The contexts of several follow-ups may differ in their last tokens, since some tokenizers join a template's blank to
    the first word of only some follow-ups. `context_nll` is the sum over these last `context_tokens` tokens. It is set
    if the likelihood of the context was requested.
    """

    nll: float
    tokens: int
    context_nll: float | None = None
    context_tokens: int | None = None
    token_log_probabilities: tuple[float, ...] | None = None


@dataclass(frozen=True)
class ContextLikelihood:
    """The follow-ups' likelihoods after a number of turns, in the order of the request.

    `turns_left_out` counts the oldest turns that were dropped because the context is too long for the model.
    `context_nll`, if requested, is a sum in nats over `context_predicted_tokens`. These are all tokens of the context
    but the first, including tokens that the join puts before the follow-up. An encoder predicts no tokens. The loss in
    the released FED code is a mean over the whole sequence: (context_nll + nll) / (context_predicted_tokens + tokens).
    If a follow-up has its own `context_nll` and `context_tokens`, they are added.
    """

    turns: int
    turns_left_out: int
    context_tokens: int
    context_nll: float | None
    context_predicted_tokens: int
    followups: tuple[FollowupLikelihood, ...]

    @property
    def is_finite(self) -> bool:
        """Return whether all sums are numbers; a damaged model returns NaN."""
        return all(math.isfinite(nll) for nll in (self.context_nll or 0.0, *(each.nll for each in self.followups)))

    def to_json(self) -> Mapping[str, Any]:
        """Return plain JSON values; `token_log_probabilities` is present only if requested."""
        return {**vars(self), "followups": [_without_none(vars(each)) for each in self.followups]}


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
