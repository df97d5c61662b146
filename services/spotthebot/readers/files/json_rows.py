"""Reads rows from an export of MongoDB: JSON Lines, or one JSON array as `mongoexport --jsonArray` writes it."""

import json
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import IO, Final, Protocol

from spotthebot.readers.rejected import Rejected

LONGEST_LINE: Final = 4 * 1024**2
"""Bytes of one line; the longest published one has 11 KiB."""
HALF_PAIR_REASON: Final = "it holds half a surrogate pair: correct the text, or remove the character"
_TIMES_READ = 10
"""How often the text of an array may be read in broken elements, which may hold one another."""
_DEEP = 100_000
"""The characters that count as read in an element that is nested too deeply."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BETWEEN_ELEMENTS = re.compile(r"[\s,]*")
_LINE_BEGINS_WITH_BRACE = re.compile(r"^,? ?(?=\{)", re.MULTILINE)
_HALF_PAIR_ESCAPED = re.compile(r"\\u[dD][89a-fA-F]")
_DECODER = json.JSONDecoder()


class Source(Protocol):
    """A folder or zip with the files of a dump."""

    def open(self, file: str) -> AbstractContextManager[IO[bytes]]: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Row:
    """A JSON object and the line on which it begins, counted from 1."""

    line: int
    content: dict[str, object]


def read_rows(source: Source, file: str) -> Iterator[Row | Rejected]:
    """Yield every object of a file in order; other content is rejected with its line."""
    with source.open(file) as stream:
        is_array = stream.read(1024).removeprefix(_BYTE_ORDER_MARK).lstrip().startswith(b"[")
    with source.open(file) as stream:
        yield from _elements(stream, file) if is_array else _lines(stream, file)


def _lines(stream: IO[bytes], file: str) -> Iterator[Row | Rejected]:
    number = 0
    while line := stream.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            while line and not line.endswith(b"\n"):
                line = stream.readline(LONGEST_LINE)
            yield Rejected(file, number, f"the line has more than {LONGEST_LINE} bytes")
        elif line.strip():
            try:
                text = line.removeprefix(_BYTE_ORDER_MARK).decode()
                value = _DECODER.decode(text)
                _require_whole_characters(text, value)
            except (ValueError, RecursionError) as error:
                yield Rejected(file, number, _fault(error))
            else:
                yield _row(value, file, number)


def _elements(stream: IO[bytes], file: str) -> Iterator[Row | Rejected]:
    """Decode the elements of an array one by one; after a broken element, go on at the next line that begins one."""
    text = stream.read().removeprefix(_BYTE_ORDER_MARK).decode(errors="surrogateescape")
    position = text.index("[") + 1
    line, counted_to, left = 1, 0, _TIMES_READ * len(text)
    while True:
        gap = _BETWEEN_ELEMENTS.match(text, position)
        position = gap.end() if gap else position
        line, counted_to = line + text.count("\n", counted_to, position), position
        if position == len(text):
            yield Rejected(file, line, "the array ends without its bracket")
            return
        if text[position] == "]":
            if text[position + 1 :].strip():
                yield Rejected(file, line, "there is more text after the end of the array")
            return
        try:
            value, end = _DECODER.raw_decode(text, position)
            text[position:end].encode()
            _require_whole_characters(text[position:end], value)
        except (ValueError, RecursionError) as error:
            yield Rejected(file, line, _fault(error))
            next_element = _LINE_BEGINS_WITH_BRACE.search(text, position + 1)
            if next_element is None:
                return
            left -= error.pos - position if isinstance(error, json.JSONDecodeError) else _DEEP
            if left < 0:
                yield Rejected(file, line, "too much of the array is broken: the rest is not read")
                return
            position = next_element.end()
        else:
            yield _row(value, file, line)
            position = end


def _row(value: object, file: str, line: int) -> Row | Rejected:
    return Row(line, value) if isinstance(value, dict) else Rejected(file, line, "it is not a JSON object")


class _HalfPair(ValueError):
    """A text with half of a surrogate pair. JSON can contain it as an escape, but no database can store it."""


def _require_whole_characters(text: str, value: object) -> None:
    if _HALF_PAIR_ESCAPED.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise _HalfPair from None


def _fault(error: ValueError | RecursionError) -> str:
    if isinstance(error, _HalfPair):
        return HALF_PAIR_REASON
    if isinstance(error, UnicodeError):
        return "it is not encoded in UTF-8"
    if isinstance(error, RecursionError):
        return "its JSON is nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        return f"it is not JSON: {error.msg} at character {error.colno}"
    return f"it is not JSON: {error}"
