"""The second way to ask PostgreSQL: compiled statements on libpq. Each has a transaction of its own.

The first way is a session of SQLAlchemy. It costs three to five times the processor time that a short statement takes
in the driver. Only a few statements run here: reads of API keys, chat tokens and bots, with which nearly every request
begins, and the reads and the write by which an annotation frontend saves an answer.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

import psycopg
from sqlalchemy.engine import make_url

from spotthebot.kit.database.libpq import LibpqConnection
from spotthebot.kit.database.statements import KeyedStatement, Statement

_FOR_READS = 4
"""Connections on which statements that may write, and so may wait for locks, never run."""
_OPTIONS = "-c plan_cache_mode=force_generic_plan"
"""A generic plan is forced, since PostgreSQL would otherwise plan each look-up of few keys again."""
_CONNECTION_TROUBLE = ("08", "57P")
"""Beginnings of SQL states of a connection that is lost, or a server that ends."""
IDLE_SECONDS = 0.25
"""A connection that was used so shortly ago is alive: PostgreSQL takes longer to end and to come back."""
_MAX_BATCH = 200
_BATCHES_AT_ONCE = 2

Key = TypeVar("Key", bound=Hashable)
Found = TypeVar("Found")


class StatementPool:
    """Connections that run compiled statements. They are opened when they are needed.

    At most `connections` statements that may write run at the same time, and four more that only read.
    """

    def __init__(self, url: str, *, application_name: str, connections: int) -> None:
        parsed = make_url(url).set(drivername="postgresql")
        self._conninfo = parsed.render_as_string(hide_password=False)
        self._options = " ".join([*parsed.normalized_query.get("options", ()), _OPTIONS])
        self._application_name = application_name
        self._slots = asyncio.Semaphore(connections + _FOR_READS)
        self._writing_slots = asyncio.Semaphore(connections)
        self._idle: list[tuple[LibpqConnection, float]] = []
        """Idle connections, and when each was used last."""
        self.lost_at = float("-inf")
        """The time, by the monotonic clock, when a connection was last found dead."""
        self._batched: dict[KeyedStatement, BatchedLookup[tuple[Any, ...], Any]] = {}

    async def fetch(self, statement: Statement, parameters: Mapping[str, Any]) -> list[Any]:
        """Run a statement, commit it, and return its rows, whose columns are attributes.

        Raises psycopg.OperationalError if the database does not answer. A statement that may write is never sent twice.
        A statement that only reads is sent again if its idle connection turns out to be dead.
        """
        if statement.only_reads:
            async with self._slots:
                return await self._read(statement, parameters)
        async with self._writing_slots, self._slots:
            return await self._write(statement, parameters)

    async def find(self, statement: KeyedStatement, key: tuple[Any, ...]) -> Any:  # noqa: ANN401 - psycopg's row
        """Return the row with this key, or None.

        One statement looks up all keys that are requested at the same time.
        """
        if statement not in self._batched:
            self._batched[statement] = BatchedLookup(partial(self._fetch_keys, statement))
        return await self._batched[statement].find(key)

    async def close(self) -> None:
        """Close the connections that no statement is using."""
        while self._idle:
            connection, _ = self._idle.pop()
            await connection.close()

    async def _read(self, statement: Statement, parameters: Mapping[str, Any]) -> list[Any]:
        while self._idle:
            connection, _ = self._idle.pop()
            try:
                return await self._run(connection, statement, parameters)
            except psycopg.OperationalError as error:
                if error.sqlstate is not None and not error.sqlstate.startswith(_CONNECTION_TROUBLE):
                    raise
                self.lost_at = time.monotonic()
        return await self._run(await self._connect(), statement, parameters)

    async def _write(self, statement: Statement, parameters: Mapping[str, Any]) -> list[Any]:
        while self._idle:
            connection, used_at = self._idle.pop()
            if await self._lives(connection, used_at):
                return await self._run(connection, statement, parameters)
        return await self._run(await self._connect(), statement, parameters)

    async def _connect(self) -> LibpqConnection:
        return await LibpqConnection.open(
            self._conninfo, connect_timeout=5, application_name=self._application_name, options=self._options
        )

    async def _run(self, connection: LibpqConnection, statement: Statement, parameters: Mapping[str, Any]) -> list[Any]:
        try:
            rows = await connection.run(statement, parameters)
        except BaseException:
            await connection.close()  # cancelled or failed: its state is not known
            raise
        self._idle.append((connection, time.monotonic()))
        return rows

    async def _lives(self, connection: LibpqConnection, used_at: float) -> bool:
        if time.monotonic() - used_at < IDLE_SECONDS and used_at > self.lost_at:
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

    async def _fetch_keys(
        self, statement: KeyedStatement, keys: Sequence[tuple[Any, ...]]
    ) -> Mapping[tuple[Any, ...], Any]:
        rows = await self.fetch(statement, statement.parameters(keys))
        return {keys[row.number - 1]: row for row in rows}


class BatchedLookup(Generic[Key, Found]):
    """Finds things by key. It looks several keys up together.

    Keys that are requested during one look-up go together into the next look-up. `fetch` returns the things that were
    found for several keys. A key never joins a look-up that was already sent. So a result was committed when it was
    requested, or later.
    """

    def __init__(self, fetch: Callable[[Sequence[Key]], Awaitable[Mapping[Key, Found]]]) -> None:
        self._fetch = fetch
        self._waiting: dict[Key, list[asyncio.Future[Found | None]]] = {}
        self._running: set[asyncio.Task[None]] = set()

    async def find(self, key: Key) -> Found | None:
        """Return the thing that has this key, or None."""
        return await self.begin(key)

    def begin(self, key: Key) -> asyncio.Future[Found | None]:
        """Start to look up a key. The future has the result that `find` returns."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Found | None] = loop.create_future()
        if not self._waiting:
            loop.call_soon(self._start)  # others that are ready to run may join first
        self._waiting.setdefault(key, []).append(future)
        return future

    def _start(self) -> None:
        while self._waiting and len(self._running) < _BATCHES_AT_ONCE:
            keys = list(self._waiting)[:_MAX_BATCH]
            task = asyncio.create_task(self._look_up({key: self._waiting.pop(key) for key in keys}))
            self._running.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._start()

    async def _look_up(self, batch: Mapping[Key, Sequence[asyncio.Future[Found | None]]]) -> None:
        waiting = [(key, future) for key, futures in batch.items() for future in futures]
        try:
            found = await self._fetch(list(batch))
        except BaseException as error:
            for _, future in waiting:
                if not future.done():
                    future.set_exception(error) if isinstance(error, Exception) else future.cancel()
            if not isinstance(error, Exception):
                raise
            return
        for key, future in waiting:
            if not future.done():
                future.set_result(found.get(key))
