"""What a model is asked of a dialogue, and what it answers: the wire of `inference.models.likelihood`."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spotthebot.fed.domain.errors import DialogueUnusable
from spotthebot.fed.domain.scoring import ContextLikelihood, FollowupLikelihood

Tokens = Mapping[str, Sequence[float]]
"""The log-probabilities of a follow-up's tokens, by its text."""


@dataclass(frozen=True)
class LikelihoodOptions:
    """All that likelihoods depend on beside dialogue and model; without a `join` the model chooses."""

    followups: tuple[str, ...]
    join: Mapping[str, Any] | None = None
    over_long: str = "error"
    context_likelihood: bool = False
    tokens: bool = False

    def request(self, turns: Sequence[str], ends: Sequence[int]) -> Mapping[str, Any]:
        """Return the request for the likelihoods after so many turns."""
        return {
            "turns": list(turns),
            "ends": list(ends),
            "followups": list(self.followups),
            "join": None if self.join is None else dict(self.join),
            "over_long": self.over_long,
            "context_likelihood": self.context_likelihood,
            "tokens": self.tokens,
        }

    def key(self, model_sha256: str, turns: Sequence[str], *, revision: int) -> bytes:
        """Return the hash of model, options and context under which likelihoods are kept, by revision of their code."""
        options = [self.followups, self.join, self.over_long, self.context_likelihood]
        parts = [revision, model_sha256, *options, list(turns)]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).digest()


@dataclass(frozen=True)
class FoundContext:
    """The likelihoods after so many `turns`, of which the model could not read the oldest `turns_left_out`."""

    turns: int
    turns_left_out: int
    likelihood: ContextLikelihood
    tokens: Tokens | None = None


def found_contexts(result: Mapping[str, Any], options: LikelihoodOptions) -> list[FoundContext]:
    """Read a model's answer, by ascending number of turns; raises DialogueUnusable where it refused."""
    if "error" in result:
        raise DialogueUnusable(reason=str(result["error"]).rstrip("."))
    return [_context(each, options) for each in result["contexts"]]


def _context(context: Mapping[str, Any], options: LikelihoodOptions) -> FoundContext:
    values = dict(zip(options.followups, context["followups"], strict=True))
    return FoundContext(
        turns=context["turns"],
        turns_left_out=context["turns_left_out"],
        likelihood=ContextLikelihood(
            followups={text: _followup(value) for text, value in values.items()},
            nll=context["context_nll"],
            predicted_tokens=context["context_predicted_tokens"],
        ),
        tokens={text: value["token_log_probabilities"] for text, value in values.items()} if options.tokens else None,
    )


def _followup(value: Mapping[str, Any]) -> FollowupLikelihood:
    """Read a follow-up, with the tokens of the context that only its text has, which the whole sequence's mean needs.

    They are given where the context's likelihood was asked for, and no other mode asks for that.
    """
    return FollowupLikelihood(
        value["nll"] + value.get("context_nll", 0.0), value["tokens"] + value.get("context_tokens", 0)
    )
