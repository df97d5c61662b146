"""Checks that a file of a dump holds rows, and that its end is not missing."""

from spotthebot.importers.published_dump.errors import DumpTruncated, NotRowsOfJson
from spotthebot.readers.files.json_rows import Row, Source, read_rows
from spotthebot.readers.rejected import Rejected

_ROWS_TRIED = 50


def check_rows(source: Source, file: str) -> None:
    """Raise `NotRowsOfJson` if a file does not begin with a JSON object, `DumpTruncated` if its end is missing.

    A broken row in the middle is rejected when it is read; the other rows are still read.
    """
    last: Row | Rejected | None = None
    found = False
    for number, row in enumerate(read_rows(source, file)):
        last, found = row, found or isinstance(row, Row)
        if not found and number == _ROWS_TRIED:
            break
    if not found:
        raise NotRowsOfJson(file=file)
    with source.open(file) as stream:
        ending = stream.read()[-1:]
    if isinstance(last, Rejected) and ending not in {b"\n", b"]"}:
        raise DumpTruncated(file=file, line=last.line)
