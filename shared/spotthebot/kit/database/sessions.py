"""The engines and the sessions.

At the end of the block of `Database.write()` it commits; after an error it rolls back.
"""

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from sqlalchemy import Engine, MetaData, event
from sqlalchemy.engine import make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError, InterfaceError, InvalidatePoolError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

from spotthebot.kit.database.pool_shares import PoolShares
from spotthebot.kit.database.statement_pool import IDLE_SECONDS, StatementPool
from spotthebot.kit.database.statements import KeyedStatement, Statement

LONG_STATEMENT_SECONDS = 900
"""The time limit of a statement in workers, which build, check and delete in bulk. For requests the login sets one."""
NAMING_CONVENTION = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
DATABASE_TROUBLE = (OperationalError, InterfaceError, PoolTimeout, psycopg.OperationalError)
"""Errors after which another attempt may succeed: no connection, a deadlock, a server that stops."""
_PASSING = ("08", "53", "57P", "40001", "40P01", "55P03")
"""Prefixes of SQL states that are no fault of the statement: connections, resources, a server that stops, locks."""
_LIFE_SECONDS = 300
"""A connection is replaced at this age: its server process caches tables and plans, and grows to five times its size.
"""
_SMALLEST_SHARE = 2


def schema_metadata(schema: str) -> MetaData:
    """Return the metadata for the tables of one service in its schema. Names of constraints follow a convention."""
    return MetaData(schema=schema, naming_convention=NAMING_CONVENTION)


def is_passing_trouble(error: BaseException | None) -> bool:
    """Return whether an error is a temporary failure of the database, and not a fault of the statement.

    A statement that takes too long, or is too large for PostgreSQL, would fail again, so its error is not temporary.
    None, the cause of an error without a cause, is not temporary either.
    """
    if isinstance(error, PoolTimeout):
        return True
    cause = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(cause, psycopg.InterfaceError):
        return True
    if not isinstance(cause, psycopg.OperationalError):
        return False
    return cause.sqlstate is None or cause.sqlstate.startswith(_PASSING)


class ReadSession(AsyncSession):
    """A session in which PostgreSQL refuses writes. Each statement sees the data that are committed when it starts."""

    _driver: Any = None

    async def fetch(self, statement: Statement, parameters: Mapping[str, Any]) -> list[Any]:
        """Run a compiled statement in this session and return its rows, whose columns are attributes.

        It takes a third of the processor time of `execute`. It raises the errors of psycopg.
        """
        if self._driver is None:
            raw: Any = await (await self.connection()).get_raw_connection()
            self._driver = raw.driver_connection
        return await statement.fetch(self._driver, parameters)

    async def find(self, statement: KeyedStatement, key: tuple[Any, ...]) -> Any:  # noqa: ANN401 - psycopg's row
        """Return the row with this key; None if there is none."""
        rows = await self.fetch(statement, statement.parameters([key]))
        return rows[0] if rows else None


class WriteSession(ReadSession):
    """A session whose transaction commits when its block ends without an error. Functions that read accept it too."""


class Database:
    """One service's connections to PostgreSQL, for reading, writing, look-ups and single statements.

    There are `pool_size` connections for reading, and as many for writing. At peaks there are up to `2 * pool_size`
    connections for writing. The number of connections for reading does not grow at peaks, since waiting for a free
    connection is faster than opening another.

    Connections for reading run each statement without an explicit transaction. A transaction would double the time of a
    short read and change no result: each of its statements sees the data that are committed when it starts (READ
    COMMITTED).

    `statements` has connections of its own for compiled statements: up to `pool_size` connections that may write, and
    four more that only read.

    The requests of one API key hold at most half of the connections for reading and a quarter of the connections for
    writing. They hold at most three quarters of the connections for compiled statements, whose locks end with the
    statement (`pool_shares`).

    `statement_seconds` replaces the time limit for statements that the login sets. A connection older than
    `life_seconds` is replaced before it is used again.
    """

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = 8,
        application_name: str = "spotthebot",
        statement_seconds: int | None = None,
        life_seconds: int = _LIFE_SECONDS,
    ) -> None:
        url = url if statement_seconds is None else _with_option(url, f"-c statement_timeout={statement_seconds}s")
        self.statements = StatementPool(url, application_name=application_name, connections=pool_size)
        self._single_shares = PoolShares(max(_SMALLEST_SHARE, 3 * pool_size // 4))
        self.engine = _engine(url, pool_size, application_name, self.statements, life_seconds=life_seconds)
        self._reading = _engine(
            url, pool_size, application_name, self.statements, life_seconds=life_seconds, reads=True
        )
        self._reading_shares = PoolShares(max(_SMALLEST_SHARE, pool_size // 2))
        self._writing_shares = PoolShares(max(_SMALLEST_SHARE, 2 * pool_size // 4))
        self._readers = async_sessionmaker(self._reading, class_=ReadSession, expire_on_commit=False)
        self._writers = async_sessionmaker(self.engine, class_=WriteSession, expire_on_commit=False)

    async def fetch(self, statement: Statement, parameters: Mapping[str, Any]) -> list[Any]:
        """Run a compiled statement in a transaction of its own and return its rows; raises the errors of psycopg."""
        async with self._single_shares.taken():
            return await self.statements.fetch(statement, parameters)

    async def find(self, statement: KeyedStatement, key: tuple[Any, ...]) -> Any:  # noqa: ANN401 - psycopg's row
        """Return the row with this key, or None.

        One statement looks up all keys that are requested at the same time.
        """
        return await self.statements.find(statement, key)

    @asynccontextmanager
    async def read(self) -> AsyncIterator[ReadSession]:
        async with self._reading_shares.taken(), self._readers() as session:
            yield session

    @asynccontextmanager
    async def write(self) -> AsyncIterator[WriteSession]:
        async with self._writing_shares.taken(), self._writers() as session, session.begin():
            yield session

    async def close(self) -> None:
        await self.engine.dispose()
        await self._reading.dispose()
        await self.statements.close()


def _engine(
    url: str,
    pool_size: int,
    application_name: str,
    statements: StatementPool,
    *,
    life_seconds: int,
    reads: bool = False,
) -> AsyncEngine:
    parsed = make_url(url).set(drivername="postgresql+psycopg")
    options = [*parsed.normalized_query.get("options", ()), *(["-c default_transaction_read_only=on"] if reads else [])]
    engine = create_async_engine(
        parsed,
        hide_parameters=True,  # errors are logged with their statement, and values are texts of people and of bots
        pool_size=pool_size,
        max_overflow=0 if reads else pool_size,
        pool_recycle=life_seconds,
        pool_use_lifo=True,  # the last used connection needs no ping, and has its statements prepared
        isolation_level="AUTOCOMMIT" if reads else None,
        connect_args={
            "application_name": application_name,
            "connect_timeout": 5,
            **({"options": " ".join(options)} if options else {}),
        },
    )
    _ping_idle_connections(engine.sync_engine, statements)
    return engine


def _with_option(url: str, option: str) -> str:
    parsed = make_url(url)
    options = " ".join([*parsed.normalized_query.get("options", ()), option])
    return parsed.update_query_dict({"options": options}).render_as_string(hide_password=False)


def _ping_idle_connections(engine: Engine, statements: StatementPool) -> None:
    """Test a connection before its use, unless it was used a moment ago: a test costs a round trip.

    After `statements` has found a dead connection, each connection of the engines is tested, however short it was idle.
    """

    @event.listens_for(engine, "checkin")
    def note_time(_connection: DBAPIConnection | None, record: ConnectionPoolEntry) -> None:
        record.info["used_at"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def ping(connection: DBAPIConnection, record: ConnectionPoolEntry, _proxy: PoolProxiedConnection) -> None:
        used_at = record.info.get("used_at", float("inf"))
        if time.monotonic() - used_at < IDLE_SECONDS and used_at > statements.lost_at:
            return
        try:
            engine.dialect.do_ping(connection)
        except psycopg.Error as error:
            raise InvalidatePoolError from error
