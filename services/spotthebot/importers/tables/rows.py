"""Rows of a table as texts by column: CSV, TSV, JSON Lines, or the JSON export of an annotation tool.

CSV and JSON Lines are read as streams, with constant memory for any number of rows.
"""

import codecs
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Final, cast

from spotthebot.importers.published_dump.records import Rejected
from spotthebot.importers.published_dump.rows import HALF_PAIR_REASON, Row, read_rows
from spotthebot.importers.tables.cells import TableRow, holds_half_pair
from spotthebot.importers.tables.delimited import delimited_rows, encoding_of
from spotthebot.importers.tables.dstc import turn_of
from spotthebot.importers.tables.errors import TableUnreadable
from spotthebot.importers.tables.exports import (
    LABEL_STUDIO,
    emails_of,
    flat_rows,
    form_of,
    name_of,
    potato_files,
    read_potato_state,
)
from spotthebot.importers.tables.traces import trace_form, traced_rows

SAMPLE_ROWS: Final = 1000
"""The number of rows at the beginning of a file from which columns and values are guessed."""
_HEAD_BYTES = 4096


@dataclass(frozen=True)
class Table:
    """A file, or the folder of an export, with the columns of its first rows and a sample of their values."""

    path: Path
    form: str
    columns: tuple[str, ...]
    sample: tuple[TableRow, ...]

    def rows(self) -> Iterator[TableRow | Rejected]:
        """Yield all rows in order, unreadable rows as `Rejected`; raises TableUnreadable."""
        return _rows(self.path)

    def values_of(self, column: str) -> list[str]:
        """Return the distinct values in a column's sample, in order of appearance."""
        return list(dict.fromkeys(value for row in self.sample if (value := row.cells.get(column, ""))))


def open_table(path: Path) -> Table:
    """Open a table and read its first rows; raises TableUnreadable."""
    first = list(islice(_rows(path), SAMPLE_ROWS))
    found = [row for row in first if isinstance(row, TableRow)]
    columns = tuple(dict.fromkeys(column for row in found for column in row.cells))
    if not found:
        faults = "".join(f" (line {row.line}: {row.reason})" for row in first[:1] if isinstance(row, Rejected))
        raise TableUnreadable(file=path.name, reason=f"none of its first rows can be read{faults}")
    return Table(path, _form(path), columns, tuple(found))


def _rows(path: Path) -> Iterator[TableRow | Rejected]:
    if path.is_dir():
        yield from _potato_rows(path)
    elif not path.is_file():
        raise TableUnreadable(file=path.name, reason="there is no such file")
    elif (form := trace_form(path)) is not None:
        yield from traced_rows(path, form)
    elif _is_json(path):
        yield from _json_rows(path, annotator=path.parent.name)
    else:
        yield from map(turn_of, delimited_rows(path))


def _form(path: Path) -> str:
    if path.is_dir():
        return "Potato's export"
    if (form := trace_form(path)) is not None:
        return form.name
    if not _is_json(path):
        return "CSV"
    if read_potato_state(path) is not None:
        return "Potato's export"
    first = next((row for row in read_rows(_OneFile(path), path.name) if isinstance(row, Row)), None)
    return "JSON" if first is None else form_of(first.content)


def _is_json(path: Path) -> bool:
    with path.open("rb") as file:
        text = file.read(_HEAD_BYTES).decode(encoding_of(path), errors="ignore").removeprefix("\ufeff").lstrip()
    if not text:
        raise TableUnreadable(file=path.name, reason="it is empty")
    return text.startswith(("{", "["))


def _potato_rows(folder: Path) -> Iterator[TableRow | Rejected]:
    files = potato_files(folder)
    if not files:
        reason = "a folder is read as Potato's annotation_output, but no folder in it holds annotated_instances.jsonl"
        raise TableUnreadable(file=folder.name, reason=f"{reason} or user_state.json")
    for file in files:
        for row in _json_rows(file, annotator=file.parent.name):
            named = f"{file.parent.name}/{file.name}"
            yield (
                Rejected(named, row.line, row.reason)
                if isinstance(row, Rejected)
                else TableRow(named, row.line, row.cells, row.name)
            )


def _json_rows(path: Path, *, annotator: str) -> Iterator[TableRow | Rejected]:
    if (state := read_potato_state(path)) is not None:
        for cells in flat_rows(state, annotator=annotator):
            instance = TableRow(path.name, 1, cells, f"instance {cells['instance_id']}")
            yield instance.rejected(HALF_PAIR_REASON) if holds_half_pair(cells.values()) else instance
        return
    last, emails = 0, _emails(path)
    for number, row in enumerate(read_rows(_OneFile(path), path.name), start=1):
        if isinstance(row, Rejected):
            yield row
        else:
            # A list may be on a single line, so line numbers can't tell its elements apart.
            name = name_of(row.content) or (f"element {number}" if row.line == last else "")
            last = row.line
            for cells in flat_rows(row.content, annotator=annotator, emails=emails):
                yield TableRow(path.name, row.line, cells, name)


def _emails(path: Path) -> dict[str, str]:
    if _form(path) != LABEL_STUDIO:
        return {}
    rows = (row for row in read_rows(_OneFile(path), path.name) if isinstance(row, Row))
    return {who: email for row in rows for who, email in emails_of(row.content)}


@dataclass(frozen=True)
class _OneFile:
    """A single file as a source of JSON rows."""

    path: Path

    def open(self, file: str) -> AbstractContextManager[IO[bytes]]:
        found, encoding = self.path.with_name(file).open("rb"), encoding_of(self.path)
        if encoding == "utf-8-sig":
            return found
        return cast("IO[bytes]", codecs.EncodedFile(found, "utf-8", encoding, errors="surrogatepass"))

    def close(self) -> None:
        """Do nothing, because no file stays open between two reads."""
