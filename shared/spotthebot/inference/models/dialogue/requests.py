"""A request to a dialogue model: a conversation so far, and how to draw the reply."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

MAX_NEW_TOKENS = 4096


@dataclass(frozen=True)
class GenerationRequest:
    """A conversation in which the model speaks next, and the sampling of its reply.

    `turns` are texts, oldest first; there may be none. Speakers alternate: the last turn is the partner's, the turn
    before it is the model's own. `temperature` 0 always takes the likeliest token; `top_k` 0 switches top-k off. The
    same request gets the same reply. Another `seed` draws another reply. Raises ValueError if a value is out of range.
    """

    turns: tuple[str, ...]
    persona: str | None = None
    seed: int = 0
    max_new_tokens: int = 40
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    repetition_penalty: float = 1.0

    def __post_init__(self) -> None:
        _check(isinstance(self.turns, tuple) and all(isinstance(turn, str) for turn in self.turns), "turns", "texts")
        _check(self.persona is None or isinstance(self.persona, str), "persona", "a text or null")
        _check(_is_whole(self.seed) and 0 <= self.seed < 2**63, "seed", "a whole number from 0 to 2^63 - 1")
        fits = _is_whole(self.max_new_tokens) and 1 <= self.max_new_tokens <= MAX_NEW_TOKENS
        _check(fits, "max_new_tokens", f"a whole number from 1 to {MAX_NEW_TOKENS}")
        fits = _is_number(self.temperature) and (self.temperature == 0 or 0.001 <= self.temperature <= 100)
        _check(fits, "temperature", "0 or a number from 0.001 to 100")
        _check(_is_number(self.top_p) and 0 < self.top_p <= 1, "top_p", "a number above 0, at most 1")
        _check(_is_whole(self.top_k) and 0 <= self.top_k < 2**31, "top_k", "a whole number from 0, which is off")
        fits = _is_number(self.repetition_penalty) and 0.01 <= self.repetition_penalty <= 100
        _check(fits, "repetition_penalty", "a number from 0.01 to 100")

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "GenerationRequest":
        """Read the JSON of `to_json`; fields that are left out have their defaults. Raises ValueError."""
        unknown = sorted(set(value) - {field.name for field in fields(cls)})
        if unknown:
            message = f"unknown fields: {', '.join(unknown)}"
            raise ValueError(message)
        turns = value.get("turns")
        _check(isinstance(turns, list | tuple), "turns", "a list of texts")
        return cls(**{**value, "turns": tuple(turns or ())})

    def to_json(self) -> dict[str, Any]:
        """Return the request as plain JSON values."""
        return {**asdict(self), "turns": list(self.turns)}


def _check(is_right: bool, name: str, allowed: str) -> None:  # noqa: FBT001 - the condition reads first
    if not is_right:
        message = f"{name} must be {allowed}"
        raise ValueError(message)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
