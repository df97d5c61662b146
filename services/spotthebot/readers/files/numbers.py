"""Reads numbers in cells: with a decimal point or comma, groups of thousands, a percent sign, or on a scale."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from spotthebot.readers.errors import MappingFault

_POINT, _COMMA = ".", ","
_LONGEST: Final = 1e21
"""From this size on whole numbers are written with an exponent, because their last digits were not stored."""
_OTHER: Final = {_POINT: _COMMA, _COMMA: _POINT}
_SIMPLE: Final = {mark: re.compile(rf"[+-]?(\d+(\{mark}\d*)?|\{mark}\d+)([eE][+-]?\d+)?") for mark in (_POINT, _COMMA)}
_GROUPED: Final = {
    mark: re.compile(rf"[+-]?\d{{1,3}}(\{other}\d{{3}})+(\{mark}\d+)?") for mark, other in _OTHER.items()
}
_SURELY_DECIMAL_COMMA: Final = re.compile(r"[+-]?(\d+,(\d{1,2}|\d{4,})|0,\d+|\d{1,3}(\.\d{3})+,\d+)")
_SURELY_GROUPED: Final = re.compile(r"[+-]?\d{1,3}((,\d{3})+\.\d+|(,\d{3}){2,})")


@dataclass(frozen=True)
class Numbers:
    """The format of the numbers in a column."""

    decimal: str = _POINT
    grouped: bool = False
    percent: bool = False

    @classmethod
    def of(cls, values: Iterable[str], decimal: str | None = None) -> "Numbers":
        """Recognise the number format of a column from some of its values, if it is unambiguous.

        `3,5` has a decimal comma, unless another value has a decimal point. `3,500` may be either, so it is not a
        number without `decimal`.
        """
        values = list(values)
        percent = bool(values) and all(value.endswith("%") for value in values)
        bare = [value.removesuffix("%").rstrip() for value in values]
        if decimal is not None:
            return cls(decimal, grouped=True, percent=percent)
        points = [value for value in bare if _POINT in value]
        if any(map(_SURELY_DECIMAL_COMMA.fullmatch, bare)) and all(map(_GROUPED[_COMMA].fullmatch, points)):
            return cls(_COMMA, grouped=True, percent=percent)
        return cls(_POINT, grouped=any(map(_SURELY_GROUPED.fullmatch, bare)), percent=percent)

    def read(self, value: str) -> float | None:
        """Return the finite number in a cell; None for other texts."""
        if self.percent != value.endswith("%"):
            return None
        text = value.removesuffix("%").rstrip()
        if self.grouped and _GROUPED[self.decimal].fullmatch(text):
            text = text.replace(_OTHER[self.decimal], "")
        elif not _SIMPLE[self.decimal].fullmatch(text):
            return None
        number = float(text.replace(self.decimal, _POINT))
        return number if math.isfinite(number) else None

    def fault(self, name: str, value: str) -> str:
        """Return why a cell is not a number, and the option with which it would be a number, if any."""
        said = f"its {name} '{value}' is not a number"
        comma = self.decimal == _POINT and (_SIMPLE[_COMMA].fullmatch(value) or _GROUPED[_COMMA].fullmatch(value))
        if comma or _GROUPED[_POINT].fullmatch(value):
            return f"{said}: say with --decimal whether the decimal mark is , or ."
        if value.endswith("%") and not self.percent:
            return f"{said}: write a percent sign after all values or after none"
        return said


@dataclass(frozen=True)
class Scale:
    """The lowest and the highest valid rating; other values, such as 99 for a missing rating, do not count."""

    low: float = -math.inf
    high: float = math.inf

    @classmethod
    def parse(cls, given: str | None) -> "Scale":
        """Parse `LOW:HIGH`; raises MappingFault."""
        if given is None:
            return ANY_NUMBER
        ends = [number_of(end.strip()) for end in given.split(":")]
        match ends:
            case [float(low), float(high)] if low < high and math.isfinite(high - low):
                return cls(low, high)
            case _:
                reason = "write the lowest and the highest value, such as 1:5"
                raise MappingFault(option="--scale", given=given, reason=reason)

    @property
    def ends(self) -> tuple[float, float] | None:
        """The lowest and the highest value; None if the user gave none."""
        return None if self == ANY_NUMBER else (self.low, self.high)

    def __contains__(self, number: float) -> bool:
        return self.low <= number <= self.high

    def __str__(self) -> str:
        return f"{plain_number(self.low)} to {plain_number(self.high)}"


ANY_NUMBER: Final = Scale()
"""The scale if the user gave none."""


def number_of(value: str) -> float | None:
    """Return the finite number in a cell with a decimal point; None for other texts."""
    return Numbers().read(value)


def is_numeric(value: str) -> bool:
    """Return whether a cell may hold a number in any format."""
    text = value.removesuffix("%").rstrip()
    return any(form.fullmatch(text) for form in (*_SIMPLE.values(), *_GROUPED.values()))


def plain_number(number: float) -> str:
    """Return a number as text with all its digits: a whole number has no point, and NaN is an empty text."""
    if isinstance(number, int):
        return str(number)
    if not math.isfinite(number):
        return ""
    return str(int(number)) if number.is_integer() and abs(number) < _LONGEST else str(number)
