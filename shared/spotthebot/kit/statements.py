"""Statements that are compiled once, for what many requests run: psycopg takes them without SQLAlchemy's own work."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Protocol

import psycopg
from psycopg.rows import namedtuple_row
from sqlalchemy import ClauseElement, ColumnElement, Dialect, literal_column
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

_DIALECT: Dialect = PGDialect_psycopg()  # type: ignore[no-untyped-call]


class Statement:
    """A statement, compiled once; its bound parameters are given by name when it runs.

    Their values are psycopg's own: `Jsonb` for a column of JSON, lists for arrays.
    """

    def __init__(self, statement: ClauseElement) -> None:
        compiled = statement.compile(dialect=_DIALECT)
        self.sql = str(compiled).encode()
        self.constants = dict(compiled.params)

    async def fetch(self, connection: psycopg.AsyncConnection[Any], parameters: Mapping[str, Any]) -> list[Any]:
        """Run on a connection and return the rows, whose columns are attributes; [] where there can be none."""
        cursor = connection.cursor(row_factory=namedtuple_row)
        await cursor.execute(self.sql, self.constants | dict(parameters))
        return await cursor.fetchall() if cursor.description else []


class Runner(Protocol):
    """Runs compiled statements: a session inside its transaction, a `Database` each as a transaction of its own."""

    async def fetch(self, statement: Statement, parameters: Mapping[str, Any]) -> list[Any]:
        """Return a statement's rows, whose columns are attributes."""
        ...


def constant(value: StrEnum | int) -> ColumnElement[Any]:
    """Return a constant that stands in a statement's text, where PostgreSQL finds the partial index that it suits."""
    return literal_column(str(value) if isinstance(value, int) else f"'{value}'")
