"""A model's likelihoods. Requests and answers have the form that `inference.models.likelihood` defines."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spotthebot.fed.dialogues.errors import DialogueUnusable


@dataclass(frozen=True)
class FollowupLikelihood:
    """The negative log-likelihood of a follow-up after a context, in nats, summed over its tokens."""

    nll: float
    tokens: int


@dataclass(frozen=True)
class ContextLikelihood:
    """A model's likelihoods for one context: of each follow-up and, if requested, of the context itself.

    `nll` is the sum over the `predicted_tokens` of the context: all its tokens but the first.
    """

    followups: Mapping[str, FollowupLikelihood]
    nll: float | None = None
    predicted_tokens: int = 0


Tokens = Mapping[str, Sequence[float]]
"""The log-probabilities of a follow-up's tokens, by its text."""


@dataclass(frozen=True)
class LikelihoodOptions:
    """The options of a request that change likelihoods, apart from dialogue and model.

    Without a `join` the model chooses one.
    """

    followups: tuple[str, ...]
    join: Mapping[str, Any] | None = None
    over_long: str = "error"
    context_likelihood: bool = False
    tokens: bool = False

    def request(self, turns: Sequence[str], ends: Sequence[int]) -> Mapping[str, Any]:
        """Return the request for likelihoods of follow-ups after the first turns of a dialogue.

        Each of `ends` is a number of turns: the likelihoods after so many turns are requested.
        """
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
        """Return the key of stored likelihoods: a hash of model, options and context, and of the code's revision."""
        options = [self.followups, self.join, self.over_long, self.context_likelihood]
        parts = [revision, model_sha256, *options, list(turns)]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).digest()


@dataclass(frozen=True)
class FoundContext:
    """The likelihoods of follow-ups after `turns` turns. The model could not read the oldest `turns_left_out` turns."""

    turns: int
    turns_left_out: int
    likelihood: ContextLikelihood
    tokens: Tokens | None = None


def found_contexts(result: Mapping[str, Any], options: LikelihoodOptions) -> list[FoundContext]:
    """Return the contexts in a model's answer, by ascending number of turns.

    Raises DialogueUnusable if the model refused the dialogue.
    """
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
    """Read a follow-up, with the tokens at the end of its context that other follow-ups do not share.

    Only the mode `whole_sequence_mean` needs these tokens. An answer has them if the context's likelihood was
    requested, and only this mode requests it.
    """
    return FollowupLikelihood(
        value["nll"] + value.get("context_nll", 0.0), value["tokens"] + value.get("context_tokens", 0)
    )
