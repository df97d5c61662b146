"""Tables of rows, for files that other programs read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Protocol

from pydantic import BaseModel

from spotthebot.kit.exports.flat import flat_row, flat_schema
from spotthebot.kit.exports.formats import ExportFormat, open_exporter

_ROWS_AT_ONCE: Final = 10_000
"""More rows take more memory; of fewer ones a Parquet file is larger."""


class Rows(Protocol):
    """Rows that may be made while they are written."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[BaseModel]: ...


@dataclass(frozen=True)
class Table:
    """Rows without nesting, and their schema."""

    schema: type[BaseModel]
    rows: Rows


def table_of(schema: type[BaseModel], rows: Sequence[BaseModel]) -> Table:
    """Return rows of a schema as a table. Each field of a nested field is a column of its own."""
    return Table(flat_schema(schema), [flat_row(row) for row in rows])


def pieces(form: ExportFormat, table: Table) -> Iterator[bytes]:
    """Yield a table as the parts of a file. Only the rows of one part are in memory."""
    exporter = open_exporter(form, table.schema, rows=len(table.rows), card="")
    rows = iter(table.rows)
    while batch := [*islice(rows, _ROWS_AT_ONCE)]:
        yield exporter.add(batch)
    yield exporter.close()
