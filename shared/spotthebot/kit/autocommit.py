"""Pools of connections in autocommit, on which compiled statements run: each is a transaction of its own.

A session of SQLAlchemy with its BEGIN and COMMIT costs five times the processor time that one statement takes in the
driver. A request that decides between two statements says in the second under which conditions it still holds.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg_pool import AsyncConnectionPool
from sqlalchemy.engine import make_url

from spotthebot.kit.libpq import LibpqConnection
from spotthebot.kit.statements import Statement

CONNECT_SECONDS = 5
LIFE_SECONDS = 300
"""What a server's process learns of tables and statements it keeps: a new one begins with a fifth of that memory."""
_WAIT_SECONDS = 10.0
_RECONNECT_SECONDS = 1.0
"""The pool waits longer after each attempt to connect; after this time it gives up, and the next statement connects."""
_IDLE_SECONDS = 0.25
"""Shorter than PostgreSQL takes to end and to come back."""


@dataclass
class LastLoss:
    """When a connection to a server was last found dead, by the monotonic clock: its other connections died too."""

    at: float = float("-inf")

    def is_suspect(self, used_at: float) -> bool:
        """Return whether a connection that was last used at this time may be dead."""
        return time.monotonic() - used_at > _IDLE_SECONDS or used_at <= self.at


class AutocommitPool:
    """Runs statements on at most `connections`, opened when they are needed; `options` are PostgreSQL's own.

    A connection that may be dead is tested before a statement is sent, so that it is never sent twice. A pool that only
    `reads` sends it again instead.
    """

    def __init__(
        self,
        url: str,
        *,
        application_name: str,
        connections: int,
        loss: LastLoss,
        reads: bool = False,
        options: str = "",
    ) -> None:
        parsed = make_url(url).set(drivername="postgresql")
        given = [*parsed.normalized_query.get("options", ()), *([options] if options else [])]
        self._loss, self._reads = loss, reads
        self._is_open = False
        self._pool = AsyncConnectionPool(
            parsed.render_as_string(hide_password=False),
            connection_class=LibpqConnection,
            kwargs={
                "autocommit": True,
                "connect_timeout": CONNECT_SECONDS,
                "application_name": application_name,
                "options": " ".join(given) or None,
            },
            name=application_name,
            min_size=0,
            max_size=connections,
            open=False,
            check=None if reads else self._test,
            timeout=_WAIT_SECONDS,
            max_lifetime=LIFE_SECONDS,
            reconnect_timeout=_RECONNECT_SECONDS,
        )

    async def fetch(self, statement: Statement, parameters: Mapping[str, Any]) -> list[Any]:
        """Run a statement, commit it, and return its rows, whose columns are attributes.

        Raises psycopg.OperationalError where the database does not answer within ten seconds.
        """
        if not self._is_open:
            await self._pool.open()
            self._is_open = True
        for may_repeat in (self._reads, False):
            connection = await self._pool.getconn()
            try:
                return await connection.run(statement, parameters)
            except psycopg.OperationalError:
                if not connection.closed:
                    raise
                await self._lost()
                if not may_repeat:
                    raise
            finally:
                await self._pool.putconn(connection)
        raise AssertionError  # the second attempt returns or raises

    async def close(self) -> None:
        """Close the connections."""
        await self._pool.close()

    async def _test(self, connection: LibpqConnection) -> None:
        if self._loss.is_suspect(connection.used_at):
            try:
                await connection.execute(";")
            except psycopg.OperationalError:
                await self._lost()
                raise

    async def _lost(self) -> None:
        self._loss.at = time.monotonic()
        await self._pool.drain()
