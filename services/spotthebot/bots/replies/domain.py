"""Completions in the form of OpenAI's API: a reply, cut as the request says, and counts of tokens.

The tokens of external bots are unknown. Here a token is a word, a character of a script without spaces, or a
punctuation mark, for every bot alike. A model's own tokens are somewhat more.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

_UNSPACED = r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]"
_TOKEN = re.compile(rf"{_UNSPACED}|(?:(?!{_UNSPACED})\w)+|[^\w\s]")


@dataclass(frozen=True)
class Completion:
    """A reply, cut on request; `finish_reason` is `length` if it was cut at the number of tokens."""

    text: str
    finish_reason: Literal["stop", "length"]
    tokens: int


def complete(reply: str, *, max_tokens: int | None, stop: Sequence[str]) -> Completion:
    """Cut a reply before the first stop text, then after `max_tokens` tokens.

    >>> complete("Well, I like tea. You?", max_tokens=4, stop=["You"])
    Completion(text='Well, I like', finish_reason='length', tokens=4)
    """
    ends = [place for text in stop if (place := reply.find(text)) >= 0]
    text = reply[: min(ends)] if ends else reply
    tokens = list(_TOKEN.finditer(text))
    if max_tokens is None or len(tokens) <= max_tokens:
        return Completion(text, "stop", len(tokens))
    return Completion(text[: tokens[max_tokens - 1].end()], "length", max_tokens)


def count_tokens(texts: Sequence[str]) -> int:
    """Return the number of tokens of several texts."""
    return sum(sum(1 for _ in _TOKEN.finditer(text)) for text in texts)
