"""The leaderboard of a game as one of its annotators sees it: the best, oneself, and those around oneself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from spotthebot.contracts.analytics import PlaceOut

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
    """What an annotator sees; `own` is None for who has no place, and `is_final` says that points are shown."""

    rows: tuple[Row, ...]
    own: Row | None
    count: int
    is_final: bool


def board_of(places: Sequence[PlaceOut], pseudonym: str) -> Board:
    """Return the best ten, the annotator of this pseudonym, and the two before and after."""
    at = next((index for index, each in enumerate(places) if each.annotator == pseudonym), None)
    shown = set(range(min(_BEST, len(places))))
    if at is not None:
        shown |= set(range(max(0, at - _AROUND), min(len(places), at + _AROUND + 1)))
    rows: list[Row] = []
    for before, index in zip([-1, *sorted(shown)], sorted(shown), strict=False):
        if index - before > 1:
            rows.append(Row(left_out=index - before - 1))
        rows.append(_row(places[index], is_own=index == at))
    left_out = len(places) - 1 - max(shown, default=-1)
    if left_out:
        rows.append(Row(left_out=left_out))
    own = None if at is None else _row(places[at], is_own=True)
    return Board(tuple(rows), own, len(places), is_final=any(each.points is not None for each in places))


def _row(place: PlaceOut, *, is_own: bool) -> Row:
    return Row(
        rank=place.rank,
        code=_code(place.annotator),
        is_own=is_own,
        packages=place.packages,
        right=None if place.right is None or not place.sides else place.right / place.sides,
        points=place.points,
    )


def _code(pseudonym: str) -> str:
    """Return the letters by which a player is known; simulated annotators keep their names."""
    return pseudonym[2:][:_LETTERS].upper() if pseudonym.startswith("p-") else pseudonym
