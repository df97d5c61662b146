"""What the items of a table say, so that items of one text count as one: all texts of an item's rows, in any order.

A prompt alone is no text of an item: items that only begin alike go on as two.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from spotthebot.importers.tables.cells import TableRow, is_missing
from spotthebot.importers.tables.numbers import is_numeric
from spotthebot.kit.text.words import known_text_hash

PROMPT: Final = "prompt"
TEXT_FIELDS: Final = ("text_a", "text_b", "text", PROMPT)
"""The fields that hold texts; a prompt is guessed only beside another one, which has to come before it."""
_LONGEST_WORD: Final = 20


def is_text(value: str) -> bool:
    """Return whether a cell may be what somebody said, and not a code, a number or an answer in a word."""
    return not is_numeric(value) and (len(value) > _LONGEST_WORD or any(map(str.isspace, value)))


class Texts:
    """The texts of items, as hashes: a cell that says nothing is none."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        self._columns = [columns[name] for name in TEXT_FIELDS if name in columns]
        self._said: dict[str, set[bytes]] = {}

    def add(self, item: str, row: TableRow) -> None:
        """Add what a row of an item says."""
        for column in self._columns:
            cell = row.cells.get(column, "")
            if not is_missing(cell) and (found := known_text_hash([cell])) is not None:
                self._said.setdefault(item, set()).add(found)

    def clusters(self, items: Iterable[str]) -> dict[str, str]:
        """Return for each item the first one that has its text; an item without a text is its own.

        >>> texts = Texts({"text": "said"})
        >>> for item, said in (("i2", "Good morning!"), ("i1", "good  morning"), ("i3", ""), ("i4", "")):
        ...     texts.add(item, TableRow("table.csv", 2, {"said": said}))
        >>> texts.clusters(["i1", "i2", "i3", "i4"])
        {'i1': 'i1', 'i2': 'i1', 'i3': 'i3', 'i4': 'i4'}
        """
        first: dict[frozenset[bytes], str] = {}
        return {
            item: first.setdefault(frozenset(self._said[item]), item) if item in self._said else item
            for item in sorted(set(items))
        }
