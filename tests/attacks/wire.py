"""What attackers use: bare sockets, and a clock on everybody else's requests."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import httpx

Wire = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def opened(url: str, *, source: str | None = None) -> AsyncIterator[Wire]:
    """A bare connection to a service; `source` is the address of loopback that it comes from."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(
        parts.hostname, parts.port, local_addr=(source, 0) if source is not None else None
    )
    try:
        yield reader, writer
    finally:
        writer.close()


async def status_of(reader: asyncio.StreamReader, within: float = 5.0) -> int:
    """Read the status of an answer; 0 where the connection is closed without one."""
    async with asyncio.timeout(within):
        line = await reader.readline()
    return int(line.split()[1]) if line else 0


async def is_closed(reader: asyncio.StreamReader, within: float) -> bool:
    """Whether the service closes the connection in time."""
    try:
        async with asyncio.timeout(within):
            while await reader.read(65_536):
                pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True


async def latency(client: httpx.AsyncClient, path: str, *, seconds: float) -> float:
    """Ask again and again, and return the time within which nine of ten answers came, in seconds.

    Not the longest: on a busy machine any request may be the one that waits for the processor. Of three stretches the
    best counts: an attack that delays others delays them in each, another program's burst of work does not.
    """
    return min([await _latency(client, path, seconds / 3) for _ in range(3)])


async def _latency(client: httpx.AsyncClient, path: str, seconds: float) -> float:
    times, ends_at = [], time.monotonic() + seconds
    while time.monotonic() < ends_at:
        started = time.perf_counter()
        answer = await client.get(path)
        times.append(time.perf_counter() - started)
        assert answer.status_code == 200
        await asyncio.sleep(0.01)
    return sorted(times)[len(times) * 9 // 10]


def bearable(usual: float) -> float:
    """Return the latency that an attack may cause: a tenth of a second, more only where the machine is slow already."""
    return max(0.1, 3 * usual)


def head(method: str, path: str, **headers: str) -> bytes:
    """Return the head of a request."""
    lines = [f"{method} {path} HTTP/1.1", "Host: attacked"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def half_open(url: str, sources: list[str]) -> list[socket.socket]:
    """Open a connection from each address and send the beginning of a head, as slowloris does."""
    parts = urlsplit(url)
    sockets = []
    for source in sources:
        sock = socket.create_connection((parts.hostname, parts.port), source_address=(source, 0))
        sock.setblocking(False)
        sock.send(b"GET /healthz HTTP/1.1\r\nHost: attacked\r\nX-Slow: ")
        sockets.append(sock)
    return sockets
