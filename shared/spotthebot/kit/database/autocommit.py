"""Compiled statements on libpq, each a transaction of its own.

A session of SQLAlchemy with its BEGIN and COMMIT costs five times the processor time that one statement takes in the
driver. A request that decides between two statements says in the second under which conditions it still holds.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any

import psycopg
from sqlalchemy.engine import make_url

from spotthebot.kit.database.libpq import LibpqConnection
from spotthebot.kit.database.statements import Statement

_IDLE_SECONDS = 0.25
"""Shorter than PostgreSQL takes to end and to come back."""


class DriverConnections:
    """Connections of psycopg, opened when they are needed, at most so many; `options` are PostgreSQL's own."""

    def __init__(self, url: str, *, application_name: str, connections: int, options: str = "") -> None:
        parsed = make_url(url).set(drivername="postgresql")
        given = [*parsed.normalized_query.get("options", ()), *([options] if options else [])]
        self._conninfo = parsed.render_as_string(hide_password=False)
        self._options = " ".join(given) or None
        self._application_name = application_name
        self.slots = asyncio.Semaphore(connections)
        self._idle: list[tuple[LibpqConnection, float]] = []
        """Idle connections, and when each was used last."""

    def take(self) -> tuple[LibpqConnection, float] | None:
        """Return the idle connection that was used last, and when; None where there is none."""
        return self._idle.pop() if self._idle else None

    async def connect(self) -> LibpqConnection:
        """Open another connection."""
        return await LibpqConnection.open(
            self._conninfo, connect_timeout=5, application_name=self._application_name, options=self._options
        )

    async def run(self, connection: LibpqConnection, statement: Statement, parameters: Mapping[str, Any]) -> list[Any]:
        """Return the rows, whose columns are attributes; the connection is idle then, or closed where this failed."""
        try:
            rows = await connection.run(statement, parameters)
        except BaseException:
            await connection.close()  # cancelled or failed: its state is not known
            raise
        self._idle.append((connection, time.monotonic()))
        return rows

    async def close(self) -> None:
        """Close the connections that nothing uses."""
        while taken := self.take():
            await taken[0].close()


class Autocommit:
    """Runs statements that may write. `lost_at` says when a connection to the server was last found dead."""

    def __init__(self, url: str, *, application_name: str, connections: int, lost_at: Callable[[], float]) -> None:
        self._connections = DriverConnections(url, application_name=application_name, connections=connections)
        self._lost_at = lost_at

    async def fetch(self, statement: Statement, parameters: Mapping[str, Any]) -> list[Any]:
        """Run a statement, commit it, and return its rows.

        Raises psycopg.OperationalError where the database does not answer. A connection that died while it was idle is
        replaced before the statement is sent: it is never sent twice.
        """
        async with self._connections.slots:
            while taken := self._connections.take():
                connection, used_at = taken
                if await self._lives(connection, used_at):
                    return await self._connections.run(connection, statement, parameters)
            return await self._connections.run(await self._connections.connect(), statement, parameters)

    async def close(self) -> None:
        """Close the connections that no statement uses."""
        await self._connections.close()

    async def _lives(self, connection: LibpqConnection, used_at: float) -> bool:
        if time.monotonic() - used_at < _IDLE_SECONDS and used_at > self._lost_at():
            return True
        try:
            await connection.ping()
        except psycopg.OperationalError:
            await connection.close()
            return False
        except BaseException:
            await connection.close()
            raise
        return True
