"""Held-out exchanges: those of people's conversations that annotators may see. No bot may learn a dialogue of them.

A dialogue is recognised by its exchanges, not by its key: it may lie in another corpus, in another split, be cut, or
have come back by an export. One exchange in common happens by chance ("How are you?" "Fine, thanks."), two make it the
same dialogue; one is enough for a conversation that has no more.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from spotthebot.conversations.domain.quality.exchanges import HASH_BYTES, exchange_hashes

ENOUGH: Final = 2


def exchange_numbers(turns: Sequence[str]) -> frozenset[int]:
    """Return a 64-bit number for each exchange, two adjacent turns."""
    hashes = exchange_hashes(turns)
    return frozenset(
        int.from_bytes(hashes[start : start + HASH_BYTES], "big", signed=True)
        for start in range(0, len(hashes), HASH_BYTES)
    )


def held_out_exchanges(conversations: Sequence[Sequence[str]]) -> dict[int, bool]:
    """Return the exchanges of people's conversations; true stands for one that alone makes a dialogue the same."""
    held_out: dict[int, bool] = {}
    for turns in conversations:
        numbers = exchange_numbers(turns)
        for number in numbers:
            held_out[number] = held_out.get(number, False) or len(numbers) < ENOUGH
    return held_out


def is_held_out(exchanges: frozenset[int], held_out: Mapping[int, bool]) -> bool:
    """Say whether a dialogue with these exchanges is one of people's conversations."""
    found = [held_out[number] for number in exchanges if number in held_out]
    return any(found) or len(found) >= ENOUGH
