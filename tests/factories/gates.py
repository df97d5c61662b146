"""A gate between two services, to see what one does while the other hangs, and what waits for locks."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import psycopg

_AWAITED = """
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
"""
_OPEN_FOR_LONG = """
    SELECT query FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start < clock_timestamp() - interval '0.5 s'
"""


class Gate:
    """Forwards connections to `target`; while it is closed, requests get no answer."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.address = address
        self.target = address
        self.requests_stopped = 0
        self._passing = 0
        self._open = asyncio.Event()
        self._open.set()

    @property
    def url(self) -> str:
        host, port = self.address
        return f"http://{host}:{port}"

    def lead_to(self, url: str) -> None:
        """Forward to the service at a URL of the loopback address."""
        self.target = ("127.0.0.1", int(url.rpartition(":")[2]))

    @contextmanager
    def closed(self, *, passing: int = 0) -> Iterator[None]:
        """Close the gate while the block lasts; so many requests still pass."""
        self._passing = passing
        self._open.clear()
        try:
            yield
        finally:
            self._open.set()

    async def stopped(self, requests: int) -> None:
        """Wait until so many requests, or connections with several each, wait at the closed gate."""
        async with asyncio.timeout(60):
            while self.requests_stopped < requests:
                await asyncio.sleep(0.02)

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_target, to_target = await asyncio.open_connection(*self.target)
        with contextlib.closing(writer), contextlib.closing(to_target):
            await asyncio.gather(self._pipe(reader, to_target, stops=True), self._pipe(from_target, writer))

    async def _pass(self) -> None:
        if self._passing:
            self._passing -= 1
            return
        self.requests_stopped += 1
        await self._open.wait()

    async def _pipe(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, stops: bool = False) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65536):
                if stops and not self._open.is_set():
                    await self._pass()
                writer.write(data)
                await writer.drain()
            writer.close()


@asynccontextmanager
async def standing_gate() -> AsyncIterator[Gate]:
    """Yield an open gate at a free port of the loopback address."""
    gate: Gate

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await gate.forward(reader, writer)

    server = await asyncio.start_server(forward, "127.0.0.1", 0)
    gate = Gate(server.sockets[0].getsockname()[:2])
    yield gate
    server.close()


async def long_transactions(admin_url: str) -> list[Any]:
    """Watch a database for a second; return the last statements of transactions open for more than half a second.

    It begins half a second from now, so that what was open before the peer began to hang is over.
    """
    found = []
    await asyncio.sleep(0.5)
    async with await psycopg.AsyncConnection.connect(admin_url, autocommit=True) as connection:
        for _ in range(10):
            await asyncio.sleep(0.1)
            found += await (await connection.execute(_OPEN_FOR_LONG)).fetchall()
    return found


async def locks_awaited(admin_url: str, count: int) -> None:
    """Wait until so many transactions wait for a lock."""
    with psycopg.connect(admin_url, autocommit=True) as connection:
        async with asyncio.timeout(60):
            while connection.execute(_AWAITED).fetchone() != (count,):
                await asyncio.sleep(0.02)
