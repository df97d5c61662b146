"""Tables of rows, for files that other programs read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel

from spotthebot.kit.exports.flat import flat_row, flat_schema


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
