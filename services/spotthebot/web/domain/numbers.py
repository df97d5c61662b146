"""Writes numbers as people of a language do."""

from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Final

_MARKS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType({"en": (".", ","), "de": (",", ".")})
"""The decimal mark and the separator of thousands of each language."""
NOTHING: Final = "\N{EN DASH}"
"""What stands where the data define no number."""


class Numbers:
    """Numbers in one language; what is None is a dash."""

    def __init__(self, language: str) -> None:
        self._decimal, self._thousands = _MARKS.get(language, _MARKS["en"])

    def count(self, number: int | None) -> str:
        """Write a whole number.

        >>> Numbers("en").count(12345), Numbers("de").count(12345)
        ('12,345', '12.345')
        """
        return NOTHING if number is None else f"{number:,}".replace(",", self._thousands)

    def decimal(self, number: float | None, digits: int = 2) -> str:
        """Write a number with so many digits behind the mark.

        >>> Numbers("de").decimal(0.126), Numbers("en").decimal(1.5, 1), Numbers("en").decimal(-0.001, 1)
        ('0,13', '1.5', '0.0')
        """
        if number is None:
            return NOTHING
        return f"{number:z.{digits}f}".replace(".", self._decimal).replace("-", "\N{MINUS SIGN}")

    def money(self, amount: Decimal) -> str:
        """Write an amount with its cents.

        >>> Numbers("de").money(Decimal("1234.5")), Numbers("en").money(Decimal("0"))
        ('1.234,50', '0.00')
        """
        whole, cents = f"{amount:,.2f}".rsplit(".", 1)
        return f"{whole.replace(',', self._thousands)}{self._decimal}{cents}"

    def percent(self, share: float | None) -> str:
        """Write a share in percent; what rounds to nothing or to all, and is not, says so.

        >>> Numbers("en").percent(0.286), Numbers("en").percent(0.001), Numbers("en").percent(0.0)
        ('29 %', '< 1 %', '0 %')
        >>> Numbers("en").percent(0.999)
        '> 99 %'
        """
        if share is None:
            return NOTHING
        if 0 < share < 0.005:
            return "< 1 %"
        return "> 99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"

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
        """Write an interval.

        >>> Numbers("en").between(0.1, 0.25), Numbers("de").between(0.1, 0.25)
        ('0.10 to 0.25', '0,10 bis 0,25')
        """
        if low is None or high is None:
            return NOTHING
        return f"{self.decimal(low, digits)} {self._to} {self.decimal(high, digits)}"

    def percents_between(self, low: float | None, high: float | None) -> str:
        """Write an interval of shares in percent.

        >>> Numbers("en").percents_between(0.1, 0.254)
        '10 to 25 %'
        """
        if low is None or high is None:
            return NOTHING
        return f"{100 * low:.0f} {self._to} {100 * high:.0f} %"

    def duration(self, seconds: float | None) -> str:
        """Write a time of seconds to hours.

        >>> Numbers("en").duration(23.24), Numbers("en").duration(90 * 60)
        ('23.2 s', '1.5 h')
        """
        if seconds is None:
            return NOTHING
        return f"{self.decimal(seconds, 1)} s" if seconds < 600 else f"{self.decimal(seconds / 3600, 1)} h"

    @property
    def _to(self) -> str:
        return "bis" if self._decimal == "," else "to"
