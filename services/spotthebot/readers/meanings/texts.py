"""The texts of a table's items. Two items count as one if their rows have the same texts, in any order.

All texts of an item are compared, so two items that share only a prompt stay two items.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from spotthebot.kit.text.words import known_text_hash
from spotthebot.readers.files.cells import TableRow, is_missing
from spotthebot.readers.files.numbers import is_numeric

PROMPT: Final = "prompt"
TEXT_FIELDS: Final = ("text_a", "text_b", "text", PROMPT)
"""The fields that hold texts; a prompt is guessed only after another text column."""
_LONGEST_WORD: Final = 20


def is_text(value: str) -> bool:
    """Return whether a cell may be an utterance; a code, a number or a single word can't."""
    return not is_numeric(value) and (len(value) > _LONGEST_WORD or any(map(str.isspace, value)))


class Texts:
    """The texts of items, stored as hashes; cells without words are skipped."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        self._columns = [columns[name] for name in TEXT_FIELDS if name in columns]
        self._said: dict[str, set[bytes]] = {}

    def add(self, item: str, row: TableRow) -> None:
        """Add the texts of one row of an item."""
        for column in self._columns:
            cell = row.cells.get(column, "")
            if not is_missing(cell) and (found := known_text_hash([cell])) is not None:
                self._said.setdefault(item, set()).add(found)

    def clusters(self, items: Iterable[str]) -> dict[str, str]:
        """Return for each item the first item with the same texts; for an item without texts, the item itself.

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
