"""Makes a conversation fit into a model's context: drops its oldest turns, then the start of the last one."""

from collections.abc import Callable, Sequence

SMALLEST_PROMPT = 64
"""Tokens of a context that no reply may take from the conversation, or half the context where that is less."""

Encode = Callable[[Sequence[str]], list[int]]


def fitted(encode: Encode, turns: Sequence[str], room: int) -> list[int]:
    """Return the tokens of as many of the last turns as fit into so many tokens."""
    whole = _largest(len(turns), lambda count: len(encode(turns[len(turns) - count :])) <= room)
    if whole > 0 or not turns:
        return encode(turns[len(turns) - whole :])[-room:]
    last = turns[-1]
    characters = _largest(len(last), lambda count: len(encode([last[len(last) - count :]])) <= room)
    return encode([last[len(last) - characters :]])[-room:]


def split_context(context_length: int, max_new_tokens: int) -> tuple[int, int]:
    """Return how many tokens the conversation may take, and how many the reply."""
    room = max(context_length - max_new_tokens, min(SMALLEST_PROMPT, context_length // 2))
    return room, context_length - room


def _largest(limit: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number up to a limit that fits, 0 if none does.

    Doubles from below, so that a very long history costs no more than the part that fits.
    """
    low, high = 0, 1
    while high <= limit and fits(high):
        low, high = high, high * 2
    high = min(high, limit + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
