from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spotthebot.importers.tables.columns import COMPARED, Kind, find_columns, parse_map, parse_values
from spotthebot.importers.tables.comparisons import Comparisons, Reading
from spotthebot.importers.tables.ratings import read_ratings
from spotthebot.importers.tables.rows import open_table
from spotthebot.importers.tables.synonyms import names_of
from spotthebot.importers.tables.values import ValueWords
from spotthebot.importers.tables.votes import read_votes

Save = Callable[..., Path]

(PROMPTED,) = names_of("prompted_annotators")
"""The column in which FastChat names a model and its prompt."""


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Write a file of lines, or of bytes."""

    def write(content: str | bytes, name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def compared(path: Path, given: str = "", *, values: str = "", **reading: Any) -> Comparisons:
    """Read a table of votes or ratings as the command line does."""
    table, words = open_table(path), ValueWords.of(parse_values([values] if values else []))
    mapping = find_columns(table, COMPARED, parse_map([given] if given else []), words)
    read = read_ratings if mapping.kind is Kind.RATINGS else read_votes
    return read(table, mapping, Reading(words, **reading))


def reasons(found: Comparisons) -> list[tuple[int, str]]:
    """Return the rejected rows, each with its line."""
    return [(row.line, row.reason) for row in found.tally.rejected]
