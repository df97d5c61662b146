"""Rows of a table as texts by column: CSV, TSV, JSON Lines, or the JSON export of an annotation tool.

CSV and JSON Lines are read as streams: a file of a million rows takes no more memory than one of ten.
"""

import codecs
import csv
import math
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from spotthebot.suite.published_dump.records import Rejected
from spotthebot.suite.published_dump.rows import Row, read_rows
from spotthebot.suite.tables.errors import TableUnreadable
from spotthebot.suite.tables.exports import flat_rows, form_of, potato_files, read_potato_state

if TYPE_CHECKING:
    from _csv import Reader

SAMPLE_ROWS: Final = 1000
"""Rows at the beginning of a file from which columns and values are guessed."""
_LONGEST_SHOWN = 40
_DELIMITERS = ",;\t|"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_HEAD_BYTES = 4096


@dataclass(frozen=True)
class TableRow:
    """The cells of a row by column, without blanks at either end; `line` is where it begins, counted from 1."""

    file: str
    line: int
    cells: dict[str, str]

    def rejected(self, reason: str) -> Rejected:
        """Return this row as one that can't be read."""
        return Rejected(self.file, self.line, reason)


@dataclass(frozen=True)
class Table:
    """A file, or the folder of an export, with the columns of its first rows and a few of their values."""

    path: Path
    form: str
    columns: tuple[str, ...]
    sample: tuple[TableRow, ...]

    def rows(self) -> Iterator[TableRow | Rejected]:
        """Yield all rows in order, and those that can't be read as `Rejected`; raises TableUnreadable."""
        return _rows(self.path)

    def values_of(self, column: str) -> list[str]:
        """Return the different values of a column's sample, in order of appearance."""
        return list(dict.fromkeys(value for row in self.sample if (value := row.cells.get(column, ""))))


def open_table(path: Path) -> Table:
    """Look into a table; raises TableUnreadable."""
    found = [row for row in islice(_rows(path), SAMPLE_ROWS) if isinstance(row, TableRow)]
    columns = tuple(dict.fromkeys(column for row in found for column in row.cells))
    if not found:
        raise TableUnreadable(file=path.name, reason="it holds no row that can be read")
    return Table(path, _form(path), columns, tuple(found))


def shown(value: str) -> str:
    """Return a value of a file for a screen: short, and without characters that a terminal would obey."""
    text = "".join(character if character.isprintable() else "�" for character in value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


def number_of(value: str) -> float | None:
    """Return the finite number that a cell holds; None where it holds another text."""
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _rows(path: Path) -> Iterator[TableRow | Rejected]:
    if path.is_dir():
        yield from _potato_rows(path)
    elif not path.is_file():
        raise TableUnreadable(file=path.name, reason="there is no such file")
    elif _is_json(path):
        yield from _json_rows(path, annotator=path.parent.name)
    else:
        yield from _csv_rows(path)


def _form(path: Path) -> str:
    if path.is_dir():
        return "Potato's export"
    if not _is_json(path):
        return "CSV"
    if read_potato_state(path) is not None:
        return "Potato's export"
    first = next((row for row in read_rows(_OneFile(path), path.name) if isinstance(row, Row)), None)
    return "JSON" if first is None else form_of(first.content)


def _is_json(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    text = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if not text:
        raise TableUnreadable(file=path.name, reason="it is empty")
    return text.startswith((b"{", b"["))


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
                else TableRow(named, row.line, row.cells)
            )


def _json_rows(path: Path, *, annotator: str) -> Iterator[TableRow | Rejected]:
    if (state := read_potato_state(path)) is not None:
        for cells in flat_rows(state, annotator=annotator):
            yield TableRow(path.name, 1, cells)
        return
    for row in read_rows(_OneFile(path), path.name):
        if isinstance(row, Rejected):
            yield row
        else:
            for cells in flat_rows(row.content, annotator=annotator):
                yield TableRow(path.name, row.line, cells)


@dataclass(frozen=True)
class _OneFile:
    """A file as a source of rows of JSON."""

    path: Path

    def open(self, file: str) -> AbstractContextManager[IO[bytes]]:
        return self.path.with_name(file).open("rb")

    def close(self) -> None:
        """Nothing stays open between two reads."""


def _csv_rows(path: Path) -> Iterator[TableRow | Rejected]:
    with path.open(encoding=_encoding_of(path), newline="") as file:
        try:
            head = file.readline()
            header = next(csv.reader([head], delimiter=_delimiter_of(path, head), strict=True), [])
            lines = csv.reader(file, delimiter=_delimiter_of(path, head), strict=True)
            columns = _checked([column.strip() for column in header], path)
            yield from _csv_cells(lines, columns, path.name)
        except csv.Error as error:
            raise TableUnreadable(file=path.name, reason=f"its first line is no header ({error})") from error
        except UnicodeError as error:
            reason = "it is not encoded in UTF-8: save it as UTF-8, in a spreadsheet 'CSV UTF-8'"
            raise TableUnreadable(file=path.name, reason=reason) from error


def _csv_cells(lines: "Reader", columns: list[str], file: str) -> Iterator[TableRow | Rejected]:
    while True:
        # The header was read apart from these.
        begins = lines.line_num + 2
        try:
            row = next(lines)
        except StopIteration:
            return
        except csv.Error as error:
            yield Rejected(file, begins, _csv_fault(error))
            continue
        if not row:
            continue
        if len(row) != len(columns):
            yield Rejected(file, begins, f"it has {len(row)} cells, the header {len(columns)}")
        else:
            yield TableRow(file, begins, {name: cell.strip() for name, cell in zip(columns, row, strict=True) if name})


def _csv_fault(error: csv.Error) -> str:
    if "unexpected end of data" in str(error):
        return "a quotation mark opens here that is never closed, so what follows can't be read"
    return f"it is no row of CSV: {error}"


def _checked(columns: list[str], path: Path) -> list[str]:
    twice = [column for column, count in Counter(columns).items() if column and count > 1]
    if twice:
        raise TableUnreadable(file=path.name, reason=f"its column '{shown(twice[0])}' occurs twice")
    if not any(columns):
        raise TableUnreadable(file=path.name, reason="its first line has to name the columns, and is empty")
    return columns


def _encoding_of(path: Path) -> str:
    with path.open("rb") as file:
        return "utf-16" if file.read(2) in _UTF_16 else "utf-8-sig"


def _delimiter_of(path: Path, head: str) -> str:
    if path.suffix.lower() == ".tsv":
        return "\t"
    return max(_DELIMITERS, key=head.count)
