from pathlib import Path
from typing import Any

from spotthebot.importers.tables.comparisons import Comparisons, Reading
from spotthebot.importers.tables.ratings import read_ratings
from spotthebot.importers.tables.votes import read_votes
from spotthebot.readers.files.rows import open_table
from spotthebot.readers.meanings.columns import COMPARED, Kind, find_columns, parse_map, parse_values
from spotthebot.readers.meanings.synonyms import names_of
from spotthebot.readers.meanings.values import ValueWords
from tests.factories.saved_files import Save, save

__all__ = ["PROMPTED", "Save", "compared", "reasons", "save"]
(PROMPTED,) = names_of("prompted_annotators")
"""The column in which FastChat names a model and its prompt."""


def compared(path: Path, given: str = "", *, values: str = "", **reading: Any) -> Comparisons:
    """Read a table of votes or ratings as the command line does."""
    table, words = open_table(path), ValueWords.of(parse_values([values] if values else []))
    mapping = find_columns(table, COMPARED, parse_map([given] if given else []), words)
    read = read_ratings if mapping.kind is Kind.RATINGS else read_votes
    return read(table, mapping, Reading(words, **reading))


def reasons(found: Comparisons) -> list[tuple[int, str]]:
    """Return the rejected rows, each with its line."""
    return [(row.line, row.reason) for row in found.tally.rejected]
