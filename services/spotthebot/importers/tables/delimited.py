"""Rows of CSV and TSV as streams; the delimiter and the encoding are detected."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from spotthebot.importers.published_dump.records import Rejected
from spotthebot.importers.published_dump.rows import HALF_PAIR_REASON
from spotthebot.importers.tables.cells import TableRow, column_name, holds_half_pair, shown
from spotthebot.importers.tables.errors import TableUnreadable

if TYPE_CHECKING:
    from _csv import Reader

_DELIMITERS = ",;\t|"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_HEAD_CHARACTERS: Final = 65_536
"""The number of characters at the beginning of a file that determine the delimiter."""
_ROWS_TRIED = 50
_SEPARATOR_LINE = re.compile(r"\"?sep=(?P<mark>[^\r\n])\"?(\r\n|\r|\n)", re.IGNORECASE)
"""The line that tells Excel the delimiter, before the header."""


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
