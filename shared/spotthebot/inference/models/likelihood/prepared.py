"""Requests as tokens: contexts that fit into the model, each with the tokens of its follow-ups."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..pretrained import Pretrained
from .joins import ContextTokens, Join, default_join, make_join
from .requests import JoinSettings, LikelihoodRequest


@dataclass(frozen=True)
class PreparedContext:
    """The tokens of `turns[turns_left_out:turns]`."""

    turns: int
    turns_left_out: int
    tokens: tuple[int, ...]


@dataclass(frozen=True)
class PreparedRequest:
    """A request that the model can answer."""

    request: LikelihoodRequest
    contexts: tuple[PreparedContext, ...]
    followups: tuple[tuple[int, ...], ...]


class RequestTokens:
    """Turns requests into tokens, for one model and its tokenizer."""

    def __init__(self, loaded: Pretrained) -> None:
        self._tokenizer = loaded.tokenizer
        self._config: Any = loaded.model.config
        self._length = loaded.context_length
        self.default_join = default_join(loaded.tokenizer, self._config)
        self._join = lru_cache(maxsize=16)(self._make_join)
        self._followups = lru_cache(maxsize=64)(self._tokenize_followups)

    def prepare(self, request: LikelihoodRequest) -> PreparedRequest:
        """Return a request's tokens; raises ValueError where it has no tokens or too many."""
        settings = request.join or self.default_join
        if request.context_likelihood and self._config.is_encoder_decoder:
            message = "an encoder-decoder model gives its context no likelihood: it scores follow-ups only"
            raise ValueError(message)
        followups = self._followups(settings, request.followups)
        longest = max(len(ids) for ids in followups)
        context = self._join(settings).context(request.turns)
        room = self._room(longest)
        contexts = []
        first = 0
        for end in sorted(request.ends):
            first, ids = self._fitting(request, context, (first, end), room)
            if not ids:
                message = f"the context of {end} turns has no tokens: give the join a start"
                raise ValueError(message)
            contexts.append(PreparedContext(end, first, tuple(ids)))
        return PreparedRequest(request, tuple(contexts), followups)

    def _make_join(self, settings: JoinSettings) -> Join:
        return make_join(settings, self._tokenizer, self._config)

    def _tokenize_followups(self, settings: JoinSettings, texts: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
        tokens = self._join(settings).followups(texts)
        for text, ids in zip(texts, tokens, strict=True):
            if not ids:
                message = f"the follow-up {text!r} has no tokens"
                raise ValueError(message)
        return tuple(tuple(ids) for ids in tokens)

    def _room(self, longest: int) -> int:
        """Return how many tokens a context may have; a decoder reads its start token before a follow-up."""
        needed = longest if self._config.is_encoder_decoder else longest + 1
        if needed > self._length:
            message = f"a follow-up has {longest} tokens, and the model reads {self._length} with its context"
            raise ValueError(message)
        return self._length if self._config.is_encoder_decoder else self._length - longest

    def _fitting(
        self, request: LikelihoodRequest, context: ContextTokens, part: tuple[int, int], room: int
    ) -> tuple[int, list[int]]:
        """Return the first turn that is kept and the tokens from there; what one end leaves out, the next does, too."""
        first, end = part
        ids = context(first, end)
        if len(ids) <= room:
            return first, ids
        whole = (
            f"the context of {end} turns has {len(ids):,} tokens, and the model reads {room:,} before the follow-ups"
        )
        if request.over_long == "error":
            message = f"{whole}: give it fewer turns, or set over_long to truncate_oldest_turns"
            raise ValueError(message)
        low, high = first, end  # turns from `low` on are too long, those from `high` on are not or there are none
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if len(context(middle, end)) <= room else (middle, high)
        if high == end:
            message = f"{whole}: its last turn alone is too long"
            raise ValueError(message)
        return high, context(high, end)
