"""Statements that are compiled once, for what many requests run: psycopg takes them without SQLAlchemy's own work."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol

import psycopg
from psycopg.adapt import PyFormat
from psycopg.pq import ExecStatus
from psycopg.rows import namedtuple_row
from sqlalchemy import ClauseElement, ColumnElement, Dialect, literal_column
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

_DIALECT: Dialect = PGDialect_psycopg()  # type: ignore[no-untyped-call]
_NUMBERED: Dialect = PGDialect_psycopg(paramstyle="numeric_dollar")  # type: ignore[no-untyped-call]


class Statement:
    """A statement, compiled once; its bound parameters are given by name when it runs.

    Their values are psycopg's own: `Jsonb` for a column of JSON, lists for arrays.
    """

    def __init__(self, statement: ClauseElement) -> None:
        compiled = statement.compile(dialect=_DIALECT)
        self.sql = str(compiled).encode()
        self.constants = dict(compiled.params)
        numbered: Any = statement.compile(dialect=_NUMBERED)
        self.numbered = str(numbered).encode()
        """The statement as PostgreSQL itself takes it, with parameters `$1`, `$2`, whose names are `names`."""
        self.names: tuple[str, ...] = tuple(numbered.positiontup or ())
        self.formats = (PyFormat.AUTO,) * len(self.names)

    async def fetch(self, connection: psycopg.AsyncConnection[Any], parameters: Mapping[str, Any]) -> list[Any]:
        """Run on a connection and return the rows, whose columns are attributes; [] where there can be none."""
        cursor = connection.cursor(row_factory=namedtuple_row)
        await cursor.execute(self.sql, {**self.constants, **parameters})
        # `cursor.description` would say so too, and make an object of each column.
        returns_rows = cursor.pgresult is not None and cursor.pgresult.status == ExecStatus.TUPLES_OK
        return await cursor.fetchall() if returns_rows else []


class KeyedStatement(Statement):
    """A read of several keys at once, of at most one row each.

    Its parameters are arrays, one of each part of the keys; `number` in a row says which key it is of, from 1.
    """

    def __init__(self, statement: ClauseElement, *parts: str) -> None:
        super().__init__(statement)
        self._parts = parts

    def parameters(self, keys: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
        """Return the parameters that look up these keys."""
        return {part: [key[number] for key in keys] for number, part in enumerate(self._parts)}


class Runner(Protocol):
    """Runs compiled statements: a session inside its transaction, a `Database` each as a transaction of its own."""

    async def fetch(self, statement: Statement, parameters: Mapping[str, Any]) -> list[Any]:
        """Return a statement's rows, whose columns are attributes."""
        ...

    async def find(self, statement: KeyedStatement, key: tuple[Any, ...]) -> Any:  # noqa: ANN401 - psycopg's row
        """Return the row of a key; None where there is none."""
        ...


def constant(value: StrEnum | int) -> ColumnElement[Any]:
    """Return a constant that stands in a statement's text, where PostgreSQL finds the partial index that it suits."""
    return literal_column(str(value) if isinstance(value, int) else f"'{value}'")
