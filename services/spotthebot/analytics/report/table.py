"""A table of a report: its columns and rows, and how a cell is written for people."""

from dataclasses import dataclass
from typing import TypeAlias

Cell: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True)
class Column:
    """A column: its name for programs, its heading for people, and how many digits its numbers have."""

    name: str
    heading: str
    digits: int = 3


@dataclass(frozen=True)
class Table:
    """`key` names its file and its place in the page; None in a row is what the data do not define."""

    key: str
    title: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def is_numeric(self, at: int) -> bool:
        """Tell whether a column holds numbers alone."""
        cells = [row[at] for row in self.rows if row[at] is not None]
        return all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells)


def shown(cell: Cell, digits: int) -> str:
    """Write a cell for people; a p-value or share too small for its digits is told to be below the last of them.

    >>> shown(0.12345, 3), shown(0.00001, 3), shown(None, 3), shown(True, 3), shown(12, 3)
    ('0.123', '< .001', '-', 'yes', '12')
    """
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        least = 10**-digits
        return f"< {least:.{digits}f}".replace("0.", ".") if 0 < cell < least else f"{cell:.{digits}f}"
    return f"{cell:,}" if isinstance(cell, int) else cell
