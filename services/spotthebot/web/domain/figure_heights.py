"""How high figures will be, so that a page keeps their place before they are drawn.

`analytics` draws them; these heights follow its measures closely enough that little moves when a figure comes: a row of
28 px for each bot, 19 px for each two names of a legend on a phone, what stands around them.
"""

from math import ceil
from typing import Final

_ROW: Final = 28
_LEGEND_ROW: Final = 19
_CELL: Final = 76
_WIDE: Final = 540
_NARROW: Final = 215
"""Pixels that the cells of the win matrix fill at most, beside the names."""


def figure_heights(figure: str, bots: int) -> tuple[int, int]:
    """Return the pixels of a figure of so many bots on a wide page, and on a phone.

    >>> figure_heights("ranking", 6), figure_heights("survival", 6)
    ((217, 453), (402, 455))
    """
    match figure:
        case "ranking":
            return _ROW * bots + 49, 2 * _ROW * bots + 117
        case "win-matrix":
            return min(_CELL * bots, _WIDE) + 56, min(_CELL * bots, _NARROW) + 90
        case "survival":
            return 402, 379 + _LEGEND_ROW * ceil((bots + 1) / 2)
        case "features":
            return 2 * _ROW * bots + 196, 4 * _ROW * bots + 326
        case "segments":
            return 362, 590 + _LEGEND_ROW * ceil(bots / 2)
        case _:
            return 382, 383
