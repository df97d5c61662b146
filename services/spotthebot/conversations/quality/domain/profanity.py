"""Turns with a word that glin-profanity's English list calls profane, spelled out or lightly disguised.

The flag asks a person to look; it is not a verdict. The list holds mild words too (`that sucks`).
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
