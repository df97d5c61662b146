"""The language of a page, the form of its numbers, and the heights that it reserves for figures.

`analytics` draws the figures. The reserved heights follow its measures, so that a page hardly moves when a figure
arrives: 28 px for each bot, 19 px for each two names of a legend on a phone, and the space around them.
"""

from collections.abc import Collection, Mapping
from decimal import Decimal
from math import ceil
from types import MappingProxyType
from typing import Final

_MARKS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType({"en": (".", ","), "de": (",", ".")})
"""The decimal mark and the separator of thousands of each language."""
NOTHING: Final = "\N{EN DASH}"
"""The text for a number that the data do not define."""
DEFAULT = "en"
_ROW: Final = 28
_LEGEND_ROW: Final = 19
_CELL: Final = 76
_WIDE: Final = 540
_NARROW: Final = 215
"""The maximum width in pixels of all cells of the win matrix, next to the names."""


class Numbers:
    """Writes numbers in one language. None becomes a dash."""

    def __init__(self, language: str) -> None:
        self._decimal, self._thousands = _MARKS.get(language, _MARKS["en"])

    def count(self, number: int | None) -> str:
        """Write a whole number.

        >>> Numbers("en").count(12345), Numbers("de").count(12345)
        ('12,345', '12.345')
        """
        return NOTHING if number is None else f"{number:,}".replace(",", self._thousands)

    def decimal(self, number: float | None, digits: int = 2) -> str:
        """Write a number with `digits` decimals.

        >>> Numbers("de").decimal(0.126), Numbers("en").decimal(1.5, 1), Numbers("en").decimal(-0.001, 1)
        ('0,13', '1.5', '0.0')
        """
        if number is None:
            return NOTHING
        return f"{number:z.{digits}f}".replace(".", self._decimal).replace("-", "\N{MINUS SIGN}")

    def money(self, amount: Decimal) -> str:
        """Write an amount of money with its cents.

        >>> Numbers("de").money(Decimal("1234.5")), Numbers("en").money(Decimal("0"))
        ('1.234,50', '0.00')
        """
        whole, cents = f"{amount:,.2f}".rsplit(".", 1)
        return f"{whole.replace(',', self._thousands)}{self._decimal}{cents}"

    def percent(self, share: float | None) -> str:
        """Write a share in percent. A small share above 0 becomes `< 1 %`, a large share below 1 `> 99 %`.

        >>> Numbers("en").percent(0.286), Numbers("en").percent(0.001), Numbers("en").percent(0.0)
        ('29 %', '< 1 %', '0 %')
        >>> Numbers("en").percent(0.999)
        '> 99 %'
        """
        if share is None:
            return NOTHING
        if 0 < share < 0.005:
            return "< 1 %"
        return "> 99 %" if 0.995 <= share < 1 else f"{self.decimal(100 * share, 0)} %"

    def level(self, level: float) -> str:
        """Write a level of confidence.

        >>> Numbers("en").level(0.95), Numbers("de").level(0.999)
        ('95 %', '99,9 %')
        """
        return f"{round(100 * level, 6):g} %".replace(".", self._decimal)

    def p_value(self, value: float | None) -> str:
        """Write a p-value.

        >>> Numbers("en").p_value(0.0312), Numbers("en").p_value(0.00001), Numbers("de").p_value(0.5)
        ('0.031', '< 0.001', '0,500')
        """
        if value is None:
            return NOTHING
        return f"< {self.decimal(0.001, 3)}" if value < 0.001 else self.decimal(value, 3)

    def between(self, low: float | None, high: float | None, digits: int = 2) -> str:
        """Write an interval from `low` to `high`.

        >>> Numbers("en").between(0.1, 0.25), Numbers("de").between(0.1, 0.25)
        ('0.10 to 0.25', '0,10 bis 0,25')
        """
        if low is None or high is None:
            return NOTHING
        return f"{self.decimal(low, digits)} {self._to} {self.decimal(high, digits)}"

    def percents_between(self, low: float | None, high: float | None) -> str:
        """Write an interval of shares in percent.

        >>> Numbers("en").percents_between(0.1, 0.254), Numbers("en").percents_between(-0.004, 0.07)
        ('10 to 25 %', '0 to 7 %')
        """
        if low is None or high is None:
            return NOTHING
        return f"{self.between(100 * low, 100 * high, 0)} %"

    def duration(self, seconds: float | None) -> str:
        """Write a duration in seconds, or in hours from ten minutes on.

        >>> Numbers("en").duration(23.24), Numbers("en").duration(90 * 60), Numbers("en").duration(0.04)
        ('23.2 s', '1.5 h', '< 0.1 s')
        """
        if seconds is None:
            return NOTHING
        if 0 < seconds < 0.1:
            return f"< {self.decimal(0.1, 1)} s"
        return f"{self.decimal(seconds, 1)} s" if seconds < 600 else f"{self.decimal(seconds / 3600, 1)} h"

    @property
    def _to(self) -> str:
        return "bis" if self._decimal == "," else "to"


def choose_language(chosen: str | None, accepted: str, known: Collection[str]) -> str:
    """Return the language of a page: the visitor's choice, otherwise the known language preferred by `Accept-Language`.

    A known language also serves its regions: `de` serves `de-AT` (RFC 4647, section 3.4).
    """
    if chosen in known:
        return str(chosen)
    ranked = sorted(_ranges(accepted), key=lambda each: -each[1])
    for tag, quality in ranked:
        primary = tag.split("-")[0].lower()
        if quality > 0 and primary in known:
            return primary
    return DEFAULT


def _ranges(header: str) -> list[tuple[str, float]]:
    found = []
    for part in header.split(",")[:20]:
        tag, _, quality = part.strip().partition(";q=")
        try:
            found.append((tag, float(quality or 1)))
        except ValueError:
            continue
    return found


def figure_heights(figure: str, bots: int) -> tuple[int, int]:
    """Return the height of a figure in pixels, on a wide page and on a phone. It depends on the number of bots.

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
