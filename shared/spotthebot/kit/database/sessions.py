"""The engine and the sessions. Nobody calls commit: leaving `Database.write()` does, raising inside it rolls back."""

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

from spotthebot.kit.database.autocommit import Autocommit
from spotthebot.kit.database.lookups import Lookups
from spotthebot.kit.database.pool_shares import PoolShares
from spotthebot.kit.database.statements import KeyedStatement, Statement

LONG_STATEMENT_SECONDS = 900
"""What workers give a statement, who build, check and delete in bulk; requests have the time of their login."""
NAMING_CONVENTION = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
DATABASE_TROUBLE = (OperationalError, InterfaceError, PoolTimeout, psycopg.OperationalError)
"""Errors after which another attempt may succeed: no connection, a deadlock, a server that ends."""
_PASSING = ("08", "53", "57P", "40001", "40P01", "55P03")
"""Beginnings of SQL states that say nothing about a statement: connections, resources, a server that ends, locks."""
_LIFE_SECONDS = 300
"""What a server's process learns of tables and statements it keeps: a new one begins with a fifth of that memory."""
_SMALLEST_SHARE = 2
_IDLE_SECONDS = 0.25
"""Shorter than PostgreSQL takes to end and to come back."""


def schema_metadata(schema: str) -> MetaData:
    """Metadata for the tables of one service, qualified by its schema, constraints named by convention."""
    return MetaData(schema=schema, naming_convention=NAMING_CONVENTION)


def is_passing_trouble(error: BaseException | None) -> bool:
    """Return whether an error is trouble of the database that passes by itself, and no fault of the statement.

    A statement that takes too long, or is too large for PostgreSQL, fails in the same way another time. None, as of an
    error without a cause, is no trouble.
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
    """A session in which PostgreSQL itself refuses writes; each statement sees what is committed when it begins."""

    _driver: Any = None

    async def fetch(self, statement: Statement, parameters: Mapping[str, Any]) -> list[Any]:
        """Run a compiled statement inside this session and return its rows, whose columns are attributes.

        It costs a third of the processor time that `execute` takes. Errors are psycopg's own.
        """
        if self._driver is None:
            raw: Any = await (await self.connection()).get_raw_connection()
            self._driver = raw.driver_connection
        return await statement.fetch(self._driver, parameters)

    async def find(self, statement: KeyedStatement, key: tuple[Any, ...]) -> Any:  # noqa: ANN401 - psycopg's row
        """Return the row of a key; None where there is none."""
        rows = await self.fetch(statement, statement.parameters([key]))
        return rows[0] if rows else None


class WriteSession(ReadSession):
    """A session whose transaction commits when its block ends without an error. Whatever reads may be given one."""


class Database:
    """One service's connections to PostgreSQL: `pool_size` for reading, as many for writing and twice those at peaks.

    Connections for reading have no transaction around their statements. It would double the time of a short read and
    change no result: each statement of a transaction sees what is committed when it begins (READ COMMITTED). There are
    no more of them at peaks: to wait for a free one takes less time than to open another. `lookups` has a few
    connections of its own, for the reads that nearly every request begins with; `fetch` has up to `pool_size`, for
    single statements. The requests of one API key hold at most half of the connections for reading, a quarter of those
    for writing (`pool_shares`), and three quarters of those for single statements, which hold locks no longer than they
    run. `statement_seconds` replaces the time that the login gives each statement. A connection older than
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
        self.lookups = Lookups(url, application_name=application_name)
        self._single = Autocommit(
            url, application_name=application_name, connections=pool_size, lost_at=lambda: self.lookups.lost_at
        )
        self._single_shares = PoolShares(max(_SMALLEST_SHARE, 3 * pool_size // 4))
        self.engine = _engine(url, pool_size, application_name, self.lookups, life_seconds=life_seconds)
        self._reading = _engine(url, pool_size, application_name, self.lookups, life_seconds=life_seconds, reads=True)
        self._reading_shares = PoolShares(max(_SMALLEST_SHARE, pool_size // 2))
        self._writing_shares = PoolShares(max(_SMALLEST_SHARE, 2 * pool_size // 4))
        self._readers = async_sessionmaker(self._reading, class_=ReadSession, expire_on_commit=False)
        self._writers = async_sessionmaker(self.engine, class_=WriteSession, expire_on_commit=False)

    async def fetch(self, statement: Statement, parameters: Mapping[str, Any]) -> list[Any]:
        """Run a compiled statement as a transaction of its own and return its rows; errors are psycopg's own."""
        async with self._single_shares.taken():
            return await self._single.fetch(statement, parameters)

    async def find(self, statement: KeyedStatement, key: tuple[Any, ...]) -> Any:  # noqa: ANN401 - psycopg's row
        """Return the row of a key, which is looked up together with others; None where there is none."""
        return await self.lookups.find(statement, key)

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
        await self.lookups.close()
        await self._single.close()


def _engine(
    url: str, pool_size: int, application_name: str, lookups: Lookups, *, life_seconds: int, reads: bool = False
) -> AsyncEngine:
    parsed = make_url(url).set(drivername="postgresql+psycopg")
    options = [*parsed.normalized_query.get("options", ()), *(["-c default_transaction_read_only=on"] if reads else [])]
    engine = create_async_engine(
        parsed,
        hide_parameters=True,  # errors are logged with their statement, and values are texts of people and of bots
        pool_size=pool_size,
        max_overflow=0 if reads else pool_size,
        pool_recycle=life_seconds,
        pool_use_lifo=True,  # the one that was used last needs no ping, and has its statements prepared
        isolation_level="AUTOCOMMIT" if reads else None,
        connect_args={
            "application_name": application_name,
            "connect_timeout": 5,
            **({"options": " ".join(options)} if options else {}),
        },
    )
    _ping_idle_connections(engine.sync_engine, lookups)
    return engine


def _with_option(url: str, option: str) -> str:
    parsed = make_url(url)
    options = " ".join([*parsed.normalized_query.get("options", ()), option])
    return parsed.update_query_dict({"options": options}).render_as_string(hide_password=False)


def _ping_idle_connections(engine: Engine, lookups: Lookups) -> None:
    """Test a connection before use, unless it was used just now: that would be a round trip for every short read.

    Where a look-up has just found its own connection dead, those of the pools are tested as well.
    """

    @event.listens_for(engine, "checkin")
    def note_time(_connection: DBAPIConnection | None, record: ConnectionPoolEntry) -> None:
        record.info["used_at"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def ping(connection: DBAPIConnection, record: ConnectionPoolEntry, _proxy: PoolProxiedConnection) -> None:
        used_at = record.info.get("used_at", float("inf"))
        if time.monotonic() - used_at < _IDLE_SECONDS and used_at > lookups.lost_at:
            return
        try:
            engine.dialect.do_ping(connection)
        except psycopg.Error as error:
            raise InvalidatePoolError from error
