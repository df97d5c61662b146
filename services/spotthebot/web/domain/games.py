"""The leaderboard of a game as one of its annotators sees it: the best, oneself, and those around oneself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from spotthebot.contracts.analytics.leaderboard import AnnotatorRankOut

GAME: Final = "spot_the_bot_gamified"
"""The protocol whose annotators have a leaderboard."""
_BEST: Final = 10
_AROUND: Final = 2
_LETTERS: Final = 4


@dataclass(frozen=True)
class Row:
    """One annotator, or those who are left out between two: `code` is then empty, and `left_out` counts them."""

    rank: int = 0
    code: str = ""
    is_own: bool = False
    packages: int = 0
    right: float | None = None
    points: float | None = None
    left_out: int = 0


@dataclass(frozen=True)
class Board:
    """What an annotator sees; `own` is None for who has no rank, and `is_final` says that points are shown."""

    rows: tuple[Row, ...]
    own: Row | None
    count: int
    is_final: bool


def board_of(ranks: Sequence[AnnotatorRankOut], pseudonym: str) -> Board:
    """Return the best ten, the annotator of this pseudonym, and the two before and after."""
    at = next((index for index, each in enumerate(ranks) if each.annotator == pseudonym), None)
    shown = set(range(min(_BEST, len(ranks))))
    if at is not None:
        shown |= set(range(max(0, at - _AROUND), min(len(ranks), at + _AROUND + 1)))
    rows: list[Row] = []
    for before, index in zip([-1, *sorted(shown)], sorted(shown), strict=False):
        if index - before > 1:
            rows.append(Row(left_out=index - before - 1))
        rows.append(_row(ranks[index], is_own=index == at))
    left_out = len(ranks) - 1 - max(shown, default=-1)
    if left_out:
        rows.append(Row(left_out=left_out))
    own = None if at is None else _row(ranks[at], is_own=True)
    return Board(tuple(rows), own, len(ranks), is_final=any(each.points is not None for each in ranks))


def _row(annotator: AnnotatorRankOut, *, is_own: bool) -> Row:
    return Row(
        rank=annotator.rank,
        code=_code(annotator.annotator),
        is_own=is_own,
        packages=annotator.packages,
        right=None if annotator.right is None or not annotator.sides else annotator.right / annotator.sides,
        points=annotator.points,
    )


def _code(pseudonym: str) -> str:
    """Return the letters by which a player is known; simulated annotators keep their names."""
    return pseudonym[2:][:_LETTERS].upper() if pseudonym.startswith("p-") else pseudonym
