"""Requests as tokens: contexts that fit into the model, each with the tokens of its follow-ups.

A request fails if its last turn alone is too long, even if it allows old turns to be left out. Half of a turn would be
another utterance, and its score would look like the score of the whole turn.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..context_length import steady_context_length
from ..pretrained import Pretrained
from .joins import Join, Joined, JoinedTokens, default_join, make_join
from .requests import JoinSettings, LikelihoodRequest


@dataclass(frozen=True)
class PreparedContext:
    """The tokens of the context `turns[turns_left_out:turns]`, and of its follow-ups."""

    turns: int
    turns_left_out: int
    joined: JoinedTokens


@dataclass(frozen=True)
class PreparedRequest:
    """A request that the model can answer; `template_date` replaces today's date in its texts."""

    request: LikelihoodRequest
    contexts: tuple[PreparedContext, ...]
    template_date: str | None


class RequestTokens:
    """Turns requests into tokens for one model with its tokenizer."""

    def __init__(self, loaded: Pretrained) -> None:
        self._tokenizer = loaded.tokenizer
        self._config: Any = loaded.model.config
        self._limit = steady_context_length(self._config, loaded.limit)
        self.default_join = default_join(loaded.tokenizer, self._config)
        self.context_length = self._limit.tokens
        self._join = lru_cache(maxsize=16)(self._make_join)

    def prepare(self, request: LikelihoodRequest) -> PreparedRequest:
        """Return a request's tokens; raises ValueError if a text has no tokens, or if there are too many."""
        settings = request.join or self.default_join
        if request.context_likelihood and self._config.is_encoder_decoder:
            message = "an encoder-decoder model gives its context no likelihood: it scores follow-ups only"
            raise ValueError(message)
        join = self._join(settings)
        joined = join.joined(request.turns, request.followups)
        contexts = []
        first = 0
        for end in sorted(request.ends):
            first, tokens = self._fitting(request, joined, (first, end))
            contexts.append(PreparedContext(end, first, tokens))
        return PreparedRequest(request, tuple(contexts), join.date)

    def _make_join(self, settings: JoinSettings) -> Join:
        return make_join(settings, self._tokenizer, self._config)

    def _fitting(self, request: LikelihoodRequest, joined: Joined, part: tuple[int, int]) -> tuple[int, JoinedTokens]:
        """Return the number of the first turn that fits, and the tokens from this turn on.

        A turn that is left out of one context is left out of all longer contexts too.
        """
        first, end = part
        tokens = joined(first, end)
        self._require_tokens(request, tokens, end)
        if self._fits(tokens):
            return first, tokens
        whole = (
            f"the context of {end} turns has {len(tokens.context):,} tokens, and the model reads "
            f"{self._room(tokens):,} before the follow-ups ({self._limit.tokens:,} with them: more are not read, "
            f"since {self._limit.reason})"
        )
        if request.over_long == "error":
            message = f"{whole}: give it fewer turns, or set over_long to truncate_oldest_turns"
            raise ValueError(message)
        low, high = first, end  # turns from `low` on are too long; those from `high` on fit, or there are none
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._fits(joined(middle, end)) else (middle, high)
        if high == end:
            message = f"{whole}: its last turn alone is too long"
            raise ValueError(message)
        return high, joined(high, end)

    def _require_tokens(self, request: LikelihoodRequest, tokens: JoinedTokens, end: int) -> None:
        """Raise ValueError if the context or a follow-up has no tokens, or if a follow-up has too many."""
        for text, ids, given in zip(request.followups, tokens.followups, tokens.given, strict=True):
            if len(ids) == given:
                message = f"the follow-up {text!r} has no tokens"
                raise ValueError(message)
        if not tokens.context:
            message = f"the context of {end} turns has no tokens: give the join a start"
            raise ValueError(message)
        longest = max(map(len, tokens.followups))
        if longest + (not self._config.is_encoder_decoder) > self._limit.tokens:
            message = f"a follow-up has {longest} tokens, and the model reads {self._limit.tokens} with its context"
            raise ValueError(message)

    def _fits(self, tokens: JoinedTokens) -> bool:
        return len(tokens.context) <= self._room(tokens)

    def _room(self, tokens: JoinedTokens) -> int:
        """Return how many tokens a context may have. A decoder also reads its start token before a follow-up."""
        return self._limit.tokens - (0 if self._config.is_encoder_decoder else max(map(len, tokens.followups)))
