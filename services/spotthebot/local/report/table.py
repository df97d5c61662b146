"""A table of a report: its columns and rows, and the form of its cells for people."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import TypeAlias

Cell: TypeAlias = str | int | float | bool | None


class Role(Enum):
    """The kind of a column's numbers, if people write it in a special form."""

    VALUE = auto()
    P_VALUE = auto()
    LOW = auto()
    """The lower bound of an interval; the next column has the upper one."""
    HIGH = auto()


@dataclass(frozen=True)
class Column:
    """A column: its name for programs, its heading for people, the digits of its numbers and their kind."""

    name: str
    heading: str
    digits: int = 3
    role: Role = Role.VALUE

    def shown(self, cell: Cell) -> str:
        """Return a cell of the column in the form for people."""
        if isinstance(cell, float) and self.role is not Role.VALUE:
            return shown_p(cell) if self.role is Role.P_VALUE else f"{cell:z.{self.digits}f}"
        return shown(cell, self.digits)


def p_value(name: str, heading: str) -> Column:
    """Return a column of p-values."""
    return Column(name, heading, role=Role.P_VALUE)


def interval(prefix: str = "", *, digits: int = 3) -> tuple[Column, Column]:
    """Return the two columns of an interval's bounds."""
    return Column(f"{prefix}low", "Low", digits, Role.LOW), Column(f"{prefix}high", "High", digits, Role.HIGH)


@dataclass(frozen=True)
class Table:
    """A table; `key` names its file and its place in the page. None in a row is an undefined value."""

    key: str
    title: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def is_numeric(self, at: int) -> bool:
        """Return whether a column holds only numbers."""
        cells = [row[at] for row in self.rows if row[at] is not None]
        return all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells)


def by_speaker(table: Table, places: Mapping[str, int]) -> Table:
    """Sort the rows by speaker within groups; the columns before `bot` define the groups, which keep their order.

    >>> table = Table("t", "", "", (Column("n", "n"), Column("bot", "Bot")), ((2, "B"), (2, "A"), (1, "B")))
    >>> by_speaker(table, {"A": 0, "B": 1}).rows
    ((2, 'A'), (2, 'B'), (1, 'B'))
    """
    names = [column.name for column in table.columns]
    if "bot" not in names:
        return table
    at = names.index("bot")
    groups = {group: number for number, group in enumerate(dict.fromkeys(row[:at] for row in table.rows))}
    speakers = [at, names.index("other")] if "other" in names else [at]

    def key(row: tuple[Cell, ...]) -> tuple[int, ...]:
        return groups[row[:at]], *(places[str(row[column])] for column in speakers)

    return replace(table, rows=tuple(sorted(table.rows, key=key)))


def shown(cell: Cell, digits: int) -> str:
    """Return a cell in the form for people; a share too small for its digits is shown as below the last digit.

    >>> shown(0.12345, 3), shown(0.00001, 3), shown(-0.0001, 3), shown(None, 3), shown(True, 3), shown(12, 3)
    ('0.123', '< .001', '0.000', '-', 'yes', '12')
    """
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        least = 10**-digits
        return f"< {least:.{digits}f}".replace("0.", ".") if 0 < cell < least else f"{cell:z.{digits}f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def shown_p(value: float | None) -> str:
    """Return a p-value with three digits and no zero before the point (APA, 7th edition, 6.36).

    >>> shown_p(0.0345), shown_p(0.0004), shown_p(0.9997), shown_p(1.0), shown_p(None)
    ('.034', '< .001', '> .999', '> .999', '-')
    """
    if value is None:
        return "-"
    if value < 0.001:
        return "< .001"
    return "> .999" if value >= 0.9995 else f"{value:.3f}".removeprefix("0")


def p_words(value: float | None) -> str:
    """Return a p-value for a sentence.

    >>> p_words(0.0345), p_words(0.0004), p_words(None)
    ('p = .034', 'p < .001', 'p is not defined')
    """
    if value is None:
        return "p is not defined"
    text = shown_p(value)
    return f"p {text}" if text[0] in "<>" else f"p = {text}"
