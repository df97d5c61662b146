"""Statements that many requests run. They are compiled once, so psycopg runs them without the work of SQLAlchemy."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol

import psycopg
from psycopg.adapt import PyFormat
from psycopg.pq import ExecStatus
from psycopg.rows import namedtuple_row
from sqlalchemy import ClauseElement, ColumnElement, Dialect, Select, UpdateBase, literal_column
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.sql import visitors

_DIALECT: Dialect = PGDialect_psycopg()  # type: ignore[no-untyped-call]
_NUMBERED: Dialect = PGDialect_psycopg(paramstyle="numeric_dollar")  # type: ignore[no-untyped-call]


class Statement:
    """A statement that is compiled once. A run gives values to its bound parameters by name.

    Values are in the form that psycopg accepts: `Jsonb` for a JSON column, lists for arrays.
    """

    def __init__(self, statement: ClauseElement) -> None:
        compiled = statement.compile(dialect=_DIALECT)
        self.sql = str(compiled).encode()
        self.constants = dict(compiled.params)
        numbered: Any = statement.compile(dialect=_NUMBERED)
        self.numbered = str(numbered).encode()
        """The statement in PostgreSQL's own form, with parameters `$1`, `$2`; their names are in `names`."""
        self.names: tuple[str, ...] = tuple(numbered.positiontup or ())
        self.formats = (PyFormat.AUTO,) * len(self.names)
        self.only_reads = _only_reads(statement)

    async def fetch(self, connection: psycopg.AsyncConnection[Any], parameters: Mapping[str, Any]) -> list[Any]:
        """Run on a connection. Return the rows, whose columns are attributes; [] if the statement returns no rows."""
        cursor = connection.cursor(row_factory=namedtuple_row)
        await cursor.execute(self.sql, {**self.constants, **parameters})
        # `cursor.description` would also tell, but makes an object for each column.
        returns_rows = cursor.pgresult is not None and cursor.pgresult.status == ExecStatus.TUPLES_OK
        return await cursor.fetchall() if returns_rows else []


def _only_reads(statement: ClauseElement) -> bool:
    """Return whether a statement neither writes nor locks rows. SQL that is given as text counts as writing."""
    if not isinstance(statement, Select):
        return False
    return not any(
        isinstance(part, UpdateBase) or getattr(part, "_for_update_arg", None) is not None
        for part in visitors.iterate(statement)
    )


class KeyedStatement(Statement):
    """A query that looks up several keys at once, and returns at most one row for each.

    Its parameters are arrays, one for each part of the keys. The column `number` of a row is the position of its key
    among the requested keys, counted from 1.
    """

    def __init__(self, statement: ClauseElement, *parts: str) -> None:
        super().__init__(statement)
        self._parts = parts

    def parameters(self, keys: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
        """Return the parameters that look up these keys."""
        return {part: [key[number] for key in keys] for number, part in enumerate(self._parts)}


class Runner(Protocol):
    """Runs compiled statements.

    A session runs them in its own transaction; a `Database` runs each in a new transaction.
    """

    async def fetch(self, statement: Statement, parameters: Mapping[str, Any]) -> list[Any]:
        """Run a statement and return its rows, whose columns are attributes."""
        ...

    async def find(self, statement: KeyedStatement, key: tuple[Any, ...]) -> Any:  # noqa: ANN401 - psycopg's row
        """Return the row with this key; None if there is none."""
        ...


def constant(value: StrEnum | int) -> ColumnElement[Any]:
    """Return a constant that stands in the statement's text. Only so can PostgreSQL use a partial index."""
    return literal_column(str(value) if isinstance(value, int) else f"'{value}'")
