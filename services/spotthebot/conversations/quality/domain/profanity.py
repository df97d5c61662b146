"""Which turns hold a word that the English list of glin-profanity calls profane, spelled out or lightly disguised.

A flag for a person to look at, not a verdict: the list holds mild words too (`that sucks`).
"""

from collections.abc import Sequence
from functools import cache, lru_cache

from glin_profanity import Filter


def profane_turns(turns: Sequence[str]) -> tuple[int, ...]:
    """Return the positions, from 0, of the turns with a profane word."""
    return tuple(position for position, turn in enumerate(turns) if _is_profane(turn))


@lru_cache(maxsize=8192)
def _is_profane(turn: str) -> bool:  # bots repeat themselves
    return bool(_filter().is_profane(turn))


@cache
def _filter() -> Filter:
    return Filter({"languages": ["english"]})
