"""Short reads on libpq, for the few statements that nearly every request runs.

A session of SQLAlchemy costs three to five times the processor time that such a read takes in the driver.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

import psycopg

from spotthebot.kit.database.autocommit import DriverConnections
from spotthebot.kit.database.statements import KeyedStatement, Statement

_CONNECTIONS = 4
_OPTIONS = "-c default_transaction_read_only=on -c plan_cache_mode=force_generic_plan"
"""A plan for few keys looks cheaper than one for any number, and so PostgreSQL would plan each look-up."""
_MAX_BATCH = 200
_BATCHES_AT_ONCE = 2

Key = TypeVar("Key", bound=Hashable)
Found = TypeVar("Found")


class Lookups:
    """Runs look-ups on at most four connections, opened when they are needed, on which PostgreSQL refuses writes."""

    def __init__(self, url: str, *, application_name: str) -> None:
        self._connections = DriverConnections(
            url,
            application_name=application_name,
            connections=_CONNECTIONS,
            options=_OPTIONS,
        )
        self.lost_at = float("-inf")
        """The time, by the monotonic clock, when a connection was last found dead."""
        self._batched: dict[KeyedStatement, BatchedLookup[tuple[Any, ...], Any]] = {}

    async def fetch(self, statement: Statement, parameters: Mapping[str, Any]) -> list[Any]:
        """Return the rows, whose columns are attributes.

        Raises psycopg.OperationalError where the database does not answer. A connection that died while it was idle
        is replaced: the statement reads only, so it can run again.
        """
        async with self._connections.slots:
            while taken := self._connections.take():
                try:
                    return await self._connections.run(taken[0], statement, parameters)
                except psycopg.OperationalError:
                    self.lost_at = time.monotonic()
            return await self._connections.run(await self._connections.connect(), statement, parameters)

    async def find(self, statement: KeyedStatement, key: tuple[Any, ...]) -> Any:  # noqa: ANN401 - psycopg's row
        """Return the row of a key, which is looked up together with others; None where there is none."""
        if statement not in self._batched:
            self._batched[statement] = BatchedLookup(partial(self._fetch_keys, statement))
        return await self._batched[statement].find(key)

    async def close(self) -> None:
        """Close the connections that no look-up uses."""
        await self._connections.close()

    async def _fetch_keys(
        self, statement: KeyedStatement, keys: Sequence[tuple[Any, ...]]
    ) -> Mapping[tuple[Any, ...], Any]:
        rows = await self.fetch(statement, statement.parameters(keys))
        return {keys[row.number - 1]: row for row in rows}


class BatchedLookup(Generic[Key, Found]):
    """Finds things by key; keys that are asked for while look-ups are under way go together into the next one.

    `fetch` returns what it found of several keys. A key never joins a look-up that was sent before: what is found was
    committed at the time of the call, or later.
    """

    def __init__(self, fetch: Callable[[Sequence[Key]], Awaitable[Mapping[Key, Found]]]) -> None:
        self._fetch = fetch
        self._waiting: dict[Key, list[asyncio.Future[Found | None]]] = {}
        self._running: set[asyncio.Task[None]] = set()

    async def find(self, key: Key) -> Found | None:
        """Return what belongs to a key; None where there is nothing."""
        return await self.begin(key)

    def begin(self, key: Key) -> asyncio.Future[Found | None]:
        """Begin to look a key up; the future is what `find` returns."""
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
