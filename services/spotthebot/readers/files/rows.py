"""Rows of a table as texts by column: CSV, TSV, JSON Lines, or the JSON export of an annotation tool.

CSV and JSON Lines are read as streams, with constant memory for any number of rows; the delimiter and the encoding of
CSV are detected.
"""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, cast

from spotthebot.readers.errors import TableUnreadable
from spotthebot.readers.files.cells import TableRow, column_name, holds_half_pair, shown
from spotthebot.readers.files.dstc import turn_of
from spotthebot.readers.files.exports import (
    LABEL_STUDIO,
    emails_of,
    flat_rows,
    form_of,
    name_of,
    potato_files,
    read_potato_state,
)
from spotthebot.readers.files.json_rows import HALF_PAIR_REASON, Row, read_rows
from spotthebot.readers.files.traces import trace_form, traced_rows
from spotthebot.readers.rejected import Rejected

if TYPE_CHECKING:
    from _csv import Reader

SAMPLE_ROWS: Final = 1000
"""The number of rows at the beginning of a file from which columns and values are guessed."""
_HEAD_BYTES = 4096
_DELIMITERS = ",;\t|"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_HEAD_CHARACTERS: Final = 65_536
"""The number of characters at the beginning of a file that determine the delimiter."""
_ROWS_TRIED = 50
_SEPARATOR_LINE = re.compile(r"\"?sep=(?P<mark>[^\r\n])\"?(\r\n|\r|\n)", re.IGNORECASE)
"""The line that tells Excel the delimiter, before the header."""


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
    head = islice(read_rows(_OneFile(path), path.name), SAMPLE_ROWS)
    first = next((row for row in head if isinstance(row, Row)), None)
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


def delimited_rows(path: Path) -> Iterator[TableRow | Rejected]:
    """Yield the rows of a file with column names in its first row; raises TableUnreadable."""
    # Half a surrogate pair is a fault of its row, not of the file.
    with path.open(encoding=encoding_of(path), errors="surrogatepass", newline="") as file:
        try:
            head = file.read(_HEAD_CHARACTERS)
            file.seek(0)
            separator = _SEPARATOR_LINE.match(head)
            if separator is not None:
                file.readline()
                head = head[separator.end() :]
            delimiter = separator["mark"] if separator is not None else _delimiter_of(path, head)
            lines = csv.reader(file, delimiter=delimiter, strict=True)
            header = next((row for row in lines if row), [])
            yield from _cells(lines, _checked(header, path), path.name, skipped=int(separator is not None))
        except csv.Error as error:
            raise TableUnreadable(file=path.name, reason=f"its first line is not a header ({error})") from error
        except UnicodeError as error:
            reason = "it is not encoded in UTF-8: save it as UTF-8 (in a spreadsheet: 'CSV UTF-8')"
            raise TableUnreadable(file=path.name, reason=reason) from error


def encoding_of(path: Path) -> str:
    """Return the encoding of a text file, from its byte order mark or from zero bytes next to ASCII letters."""
    with path.open("rb") as file:
        first, second = (*file.read(2), -1, -1)[:2]
    if bytes(each for each in (first, second) if each >= 0) in _UTF_16:
        return "utf-16"
    return "utf-16-le" if second == 0 else "utf-16-be" if first == 0 else "utf-8-sig"


def _delimiter_of(path: Path, head: str) -> str:
    if path.suffix.lower() == ".tsv":
        return "\t"
    return max(_DELIMITERS, key=lambda delimiter: _fit(head, delimiter))


def _fit(head: str, delimiter: str) -> tuple[float, int]:
    """Return how well a delimiter fits: the share of rows as long as the header, and the number of columns."""
    widths: list[int] = []
    try:
        for row in islice(csv.reader(io.StringIO(head, newline=""), delimiter=delimiter, strict=True), _ROWS_TRIED):
            widths.append(len(row))  # noqa: PERF401 - the rows before a broken one count
    except csv.Error:
        pass
    header = widths[0] if widths else 0
    return (widths.count(header) / len(widths), header) if header > 1 else (0, 0)


def _cells(lines: "Reader", columns: list[str], file: str, *, skipped: int) -> Iterator[TableRow | Rejected]:
    while True:
        begins = lines.line_num + 1 + skipped
        try:
            row = next(lines)
        except StopIteration:
            return
        except csv.Error as error:
            yield Rejected(file, begins, _fault(error))
            continue
        if not any(cell.strip() for cell in row):
            continue  # spreadsheets write rows of empty cells
        if any(row[len(columns) :]) or len(row) < len(columns):
            yield Rejected(file, begins, f"it has {len(row)} cells, and the header has {len(columns)}")
        elif holds_half_pair(row):
            yield Rejected(file, begins, HALF_PAIR_REASON)
        else:
            yield TableRow(file, begins, {name: cell.strip() for name, cell in zip(columns, row, strict=False) if name})


def _fault(error: csv.Error) -> str:
    if "unexpected end of data" in str(error):
        return "a quotation mark opens here that is never closed, so the text after it can't be read"
    return f"it is not a row of CSV: {error}"


def _checked(header: list[str], path: Path) -> list[str]:
    columns = list(map(column_name, header))
    twice = [column for column, count in Counter(columns).items() if column and count > 1]
    if twice:
        raise TableUnreadable(file=path.name, reason=f"its column '{shown(twice[0])}' occurs twice")
    if not any(columns):
        raise TableUnreadable(file=path.name, reason="its first line is empty and must name the columns")
    return columns
