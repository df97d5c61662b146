"""A row of a table as texts by column, and the texts that count as missing."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from spotthebot.readers.rejected import Rejected

_MISSING: Final = frozenset({"", "nan", "na", "n/a", "<na>", "null", "none", "#n/a"})
"""Programs' words for a missing value, in lower case."""
_LONGEST_SHOWN = 40
_WHOLE = re.compile(r"^(-?[0-9]+)\.0+$")
_HALF_PAIR = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class TableRow:
    """The cells of a row by column, without outer blanks; `line` is the row's first line, counted from 1.

    `name` is the row's name in the file, such as `task 7`, if one line holds many rows.
    """

    file: str
    line: int
    cells: dict[str, str]
    name: str = ""

    def composed(self, column: str) -> str:
        """Return a cell in the Unicode form NFC, because tools write accents differently; '' without a column."""
        return unicodedata.normalize("NFC", self.cells.get(column, ""))

    def named(self, column: str) -> str:
        """Return the id or name in a cell; empty if the cell has a word that programs write for a missing value."""
        value = self.composed(column)
        return "" if is_missing(value) else value

    def id(self, column: str) -> str:
        """Return the cell of an id; `7.0` becomes `7`, because tables with gaps write whole numbers as decimals."""
        return _WHOLE.sub(r"\1", self.named(column))

    def rejected(self, reason: str, bots: Iterable[str] = ()) -> Rejected:
        """Return this row as rejected; `bots` are the bots that the row is about."""
        said = f"{self.name}: {reason}" if self.name else reason
        return Rejected(self.file, self.line, said, tuple(dict.fromkeys(filter(None, bots))))


def column_name(written: str) -> str:
    """Return a column's name in one form: in the Unicode form NFC, with single blanks in place of line ends."""
    return unicodedata.normalize("NFC", " ".join(written.split()))


def is_missing(value: str) -> bool:
    """Return whether a cell is empty, or has a word that programs write for a missing value."""
    return value.casefold() in _MISSING


def holds_half_pair(cells: Iterable[str]) -> bool:
    """Return whether a cell holds half a surrogate pair, which no database or file can store."""
    return any(_HALF_PAIR.search(cell) for cell in cells)


def shown(value: str) -> str:
    """Return a value from a file as the terminal may show it: shortened, and without control characters."""
    text = "".join(character if character.isprintable() else "�" for character in value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"
