"""The leaderboard of a game for one annotator: the best players, the annotator, and the annotator's neighbours."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from spotthebot.contracts.analytics.leaderboard import AnnotatorRankOut

"""The protocol whose annotators have a leaderboard."""
_BEST: Final = 10
_AROUND: Final = 2
_LETTERS: Final = 4


@dataclass(frozen=True)
class Row:
    """One annotator, or a gap of `left_out` annotators who are not shown. A gap has an empty `code`."""

    rank: int = 0
    code: str = ""
    is_own: bool = False
    packages: int = 0
    right: float | None = None
    points: float | None = None
    left_out: int = 0


@dataclass(frozen=True)
class Board:
    """The leaderboard for one annotator.

    `own` is None if the annotator has no rank; `is_final` says that points are shown.
    """

    rows: tuple[Row, ...]
    own: Row | None
    count: int
    is_final: bool


def board_of(ranks: Sequence[AnnotatorRankOut], pseudonym: str) -> Board:
    """Return the best ten annotators and the annotator with this pseudonym, with two neighbours above and two below."""
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
    """Return the letters that stand for a player. Simulated annotators keep their names."""
    return pseudonym[2:][:_LETTERS].upper() if pseudonym.startswith("p-") else pseudonym
