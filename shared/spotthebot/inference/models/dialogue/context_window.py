"""Shortens a conversation until a model can read it: drops the oldest turns, or even the start of the last turn."""

from collections.abc import Callable, Sequence

SMALLEST_PROMPT = 64
"""Tokens that a reply may never take from the conversation; half the context if that is less."""

Encode = Callable[[Sequence[str]], list[int]]


def fitted(encode: Encode, turns: Sequence[str], room: int) -> list[int]:
    """Return the tokens of the last turns. As many turns are kept as fit into `room` tokens.

    If even the last turn does not fit, it loses its start.
    """
    whole = _largest(len(turns), lambda count: len(encode(turns[len(turns) - count :])) <= room)
    if whole > 0 or not turns:
        return encode(turns[len(turns) - whole :])[-room:]
    last = turns[-1]
    characters = _largest(len(last), lambda count: len(encode([last[len(last) - count :]])) <= room)
    return encode([last[len(last) - characters :]])[-room:]


def split_context(context_length: int, max_new_tokens: int) -> tuple[int, int]:
    """Return how many tokens the conversation may have, and how many tokens the reply may have."""
    room = max(context_length - max_new_tokens, min(SMALLEST_PROMPT, context_length // 2))
    return room, context_length - room


def _largest(limit: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number up to `limit` that fits, or 0.

    The search starts from 1 and doubles, so a very long history takes no more time than the part of it that fits.
    """
    low, high = 0, 1
    while high <= limit and fits(high):
        low, high = high, high * 2
    high = min(high, limit + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
