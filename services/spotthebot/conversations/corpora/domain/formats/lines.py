"""Cuts a stream of bytes into lines, with little memory even for long lines."""

from collections.abc import Iterable, Iterator
from typing import Generic, Protocol, TypeVar

from spotthebot.conversations.corpora.domain.formats.records import Fault, RejectedLine
from spotthebot.conversations.corpora.errors import NotUtf8

Found = TypeVar("Found")
Found_co = TypeVar("Found_co", covariant=True)

LONGEST_LINE_BYTES = 8 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class LineParser(Protocol[Found_co]):
    """Parses lines into records; raises Fault for a line to reject."""

    def line(self, number: int, text: str) -> Iterable[Found_co]:
        """Parse the next non-blank line."""
        ...

    def end(self) -> Iterable[Found_co]:
        """Return the records that are still open at the end of the file."""
        ...


class Reader(Generic[Found]):
    """Reads one file, piece by piece; blank lines are counted and skipped.

    A line of more than 8 MiB is rejected and never held in memory. A line with invalid UTF-8 is rejected with the
    position of the first wrong byte. Raises NotUtf8 for UTF-16, which can't be cut into lines of bytes.
    """

    def __init__(self, parser: LineParser[Found]) -> None:
        self._parser = parser
        self._number = 0
        self._rest = bytearray()
        self._too_long = False
        self._started = False

    def feed(self, piece: bytes) -> Iterator[Found | RejectedLine]:
        """Read the next bytes, and yield the records that are now complete."""
        start = 0
        while (end := piece.find(b"\n", start)) >= 0:
            self._keep(piece[start:end])
            yield from self._line()
            start = end + 1
        self._keep(piece[start:])

    def close(self) -> Iterator[Found | RejectedLine]:
        """End the file, and yield the records that were still open."""
        if self._rest or self._too_long:
            yield from self._line()
        yield from self._parser.end()

    def _keep(self, piece: bytes) -> None:
        if self._too_long or len(self._rest) + len(piece) > LONGEST_LINE_BYTES:
            self._too_long = True
            self._rest.clear()
        else:
            self._rest += piece
        if not self._started and len(self._rest) >= len(_BOM):
            self._begin()

    def _begin(self) -> None:
        self._started = True
        if self._rest.startswith(_UTF_16):
            raise NotUtf8
        if self._rest.startswith(_BOM):
            del self._rest[: len(_BOM)]

    def _line(self) -> Iterator[Found | RejectedLine]:
        self._number += 1
        self._started = True  # a byte order mark counts only at the beginning of a file
        line, too_long = bytes(self._rest), self._too_long
        self._rest.clear()
        self._too_long = False
        try:
            if too_long:
                raise Fault(reason=f"is longer than {LONGEST_LINE_BYTES:,} bytes")  # noqa: TRY301 - one place rejects all
            text = _decoded(line)
            if text.strip():
                yield from self._parser.line(self._number, text)
        except Fault as fault:
            yield RejectedLine(self._number, str(fault))


def _decoded(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        byte = f"byte {error.start + 1} is 0x{line[error.start]:02x}"
        raise Fault(
            reason=f"is not UTF-8 ({byte}), perhaps Latin-1 or Windows-1252: convert the file to UTF-8"
        ) from None
