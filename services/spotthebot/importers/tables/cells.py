"""A row of a table as texts by column, and which texts are no value at all."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from spotthebot.importers.published_dump.records import Rejected

_MISSING: Final = frozenset({"", "nan", "na", "n/a", "<na>", "null", "none", "#n/a"})
"""How programs write a value that is not there, in lower case."""
_LONGEST_SHOWN = 40
_WHOLE = re.compile(r"^(-?[0-9]+)\.0+$")
_HALF_PAIR = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class TableRow:
    """The cells of a row by column, without blanks at either end; `line` is where it begins, counted from 1.

    `name` is what the file calls the row, such as `task 7`, where a line holds many.
    """

    file: str
    line: int
    cells: dict[str, str]
    name: str = ""

    def composed(self, column: str) -> str:
        """Return a cell in NFC, as two tools write an accented letter in two ways; empty without such a column."""
        return unicodedata.normalize("NFC", self.cells.get(column, ""))

    def named(self, column: str) -> str:
        """Return the cell of an id or a name, which is empty where a program wrote that it has none."""
        value = self.composed(column)
        return "" if is_missing(value) else value

    def id(self, column: str) -> str:
        """Return the cell of an id; `7.0` is `7`, as a table with gaps has it where another has none."""
        return _WHOLE.sub(r"\1", self.named(column))

    def rejected(self, reason: str, bots: Iterable[str] = ()) -> Rejected:
        """Return this row as one that can't be read; `bots` are those that lose it."""
        said = f"{self.name}: {reason}" if self.name else reason
        return Rejected(self.file, self.line, said, tuple(dict.fromkeys(filter(None, bots))))


def is_missing(value: str) -> bool:
    """Return whether a cell holds nothing, or a program's word for nothing."""
    return value.casefold() in _MISSING


def holds_half_pair(cells: Iterable[str]) -> bool:
    """Return whether a cell holds half a surrogate pair, which no database and no file takes."""
    return any(_HALF_PAIR.search(cell) for cell in cells)


def shown(value: str) -> str:
    """Return a value of a file for a screen: short, and without characters that a terminal would obey."""
    text = "".join(character if character.isprintable() else "�" for character in value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"
