"""How many pairs of bots a result tells apart."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Differences:
    """The number of pairs of bots with a shown difference, and of all compared pairs."""

    shown: int
    pairs: int


def differences_of_ranks(best_ranks: Iterable[int | None]) -> Differences:
    """Count the pairs of bots that ranks tell apart.

    A bot's best rank minus 1 is the number of bots that are shown to be better than it.

    >>> differences_of_ranks([1, 1, 3, None])
    Differences(shown=2, pairs=3)
    """
    ranked = [each for each in best_ranks if each is not None]
    return Differences(shown=sum(ranked) - len(ranked), pairs=len(ranked) * (len(ranked) - 1) // 2)
