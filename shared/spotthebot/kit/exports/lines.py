"""Text files with one row in each line: NDJSON and CSV."""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from spotthebot.kit.text.characters import without_formula

_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
"""One for all cells: `json.dumps` would make one for each."""


class NdjsonFile:
    """A file with one JSON object in each line."""

    def add(self, rows: Sequence[BaseModel]) -> bytes:
        return "".join(f"{row.model_dump_json()}\n" for row in rows).encode()

    def close(self) -> bytes:
        return b""


class CsvFile:
    """A header line with the schema's fields, followed by one line for each row (RFC 4180).

    A cell contains `true` or `false`, a number, text, or the JSON of a list or an object; null is an empty cell. Text
    that a spreadsheet would run as a formula is prefixed with an apostrophe. A file without rows has only the header.
    """

    def __init__(self, schema: type[BaseModel]) -> None:
        self._text = io.StringIO(newline="")
        self._writer = csv.writer(self._text)
        self._writer.writerow(schema.model_fields)

    def add(self, rows: Sequence[BaseModel]) -> bytes:
        for row in rows:
            self._writer.writerow([_cell(value) for value in row.model_dump(mode="json").values()])
        return self._take()

    def close(self) -> bytes:
        return self._take()

    def _take(self) -> bytes:
        taken = self._text.getvalue().encode()
        self._text.seek(0)
        self._text.truncate()
        return taken


def _cell(value: Any) -> str | None:  # noqa: ANN401 - JSON
    if value is None:
        return None
    if isinstance(value, str):
        return without_formula(value)
    return _JSON.encode(value)
