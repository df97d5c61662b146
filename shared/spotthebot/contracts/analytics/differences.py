"""How many pairs of bots a result tells apart."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Differences:
    """Pairs of bots of which a difference is shown, and all pairs that were compared."""

    shown: int
    pairs: int


def differences_of_ranks(best_ranks: Iterable[int | None]) -> Differences:
    """Count the differences that sets of ranks rest on: as many bots are shown to be better as ranks lie before one.

    >>> differences_of_ranks([1, 1, 3, None])
    Differences(shown=2, pairs=3)
    """
    ranked = [each for each in best_ranks if each is not None]
    return Differences(shown=sum(ranked) - len(ranked), pairs=len(ranked) * (len(ranked) - 1) // 2)
