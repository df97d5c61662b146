"""Tables whose cells stay whole on a narrow terminal."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import rich.table
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Column
from rich.text import TextType

_WHOLE: Final = 20
"""Cells up to this width are never wrapped: numbers, intervals, ranks."""
_EDGES: Final = 3
"""The width of a column's padding and line."""
_ENDLESS: Final = 100_000


@dataclass(frozen=True)
class _Widths:
    """The least width of a column, at which only the longest words are folded, and the width at which it wraps nothing.

    Both include the column's edges.
    """

    column: Column
    least: int
    most: int


class Table(rich.table.Table):
    """A table that cuts no word and wraps no number. Columns that do not fit follow in further tables.

    Each of these tables begins with the first `keys` columns, which name the row.
    """

    def __init__(
        self, *headers: Column | str, title: TextType | None = None, caption: TextType | None = None, keys: int = 1
    ) -> None:
        super().__init__(*headers, title=title, caption=caption)
        self._keys = keys

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.max_width - 1
        parts = list(self._parts([_widths(console, each, room // 2) for each in self.columns], room))
        for number, columns in enumerate(parts, start=1):
            part = rich.table.Table(*columns, title=self.title if number == 1 else None)
            part.caption = self.caption if number == len(parts) else None
            part.rows = self.rows
            yield part

    def _parts(self, columns: list[_Widths], room: int) -> Iterator[list[Column]]:
        keys, others = columns[: self._keys], columns[self._keys :]
        part = list(keys)
        for each in others:
            if len(part) > len(keys) and sum(other.least for other in [*part, each]) > room:
                yield _fitted(part, room)
                part = list(keys)
            part.append(each)
        yield _fitted(part, room)


def _fitted(part: list[_Widths], room: int) -> list[Column]:
    """Return columns with their widths; the spare width goes to the columns that lack least."""
    spare = room - sum(each.least for each in part)
    widths: dict[int, int] = {}
    for at, each in sorted(enumerate(part), key=lambda pair: pair[1].most - pair[1].least):
        more = max(0, min(each.most - each.least, spare))
        widths[at] = each.least - _EDGES + more
        spare -= more
    return [replace(each.column, width=widths[at], overflow="fold") for at, each in enumerate(part)]


def _widths(console: Console, column: Column, largest: int) -> _Widths:
    options = console.options.update_width(_ENDLESS)
    header, *cells = (Measurement.get(console, options, each) for each in (column.header, *column.cells))
    whole = [each.maximum if each.maximum <= _WHOLE else each.minimum for each in cells]
    return _Widths(
        column,
        min(_EDGES + max(header.minimum, *whole, 1), largest),
        _EDGES + max(header.maximum, *(each.maximum for each in cells), 1),
    )
