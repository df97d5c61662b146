"""Files of text with one row a line: NDJSON and CSV."""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from spotthebot.kit.text.characters import without_formula


class NdjsonFile:
    """One JSON object a line."""

    def add(self, rows: Sequence[BaseModel]) -> bytes:
        return "".join(f"{row.model_dump_json()}\n" for row in rows).encode()

    def close(self) -> bytes:
        return b""


class CsvFile:
    """A header with the schema's fields, then one row a line (RFC 4180).

    A cell is empty for null, `true` or `false`, a number, text, or JSON for a list or an object. Text that a
    spreadsheet would run as a formula begins with an apostrophe. A file without rows holds the header.
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
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
