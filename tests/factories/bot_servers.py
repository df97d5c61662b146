"""Bots for tests, on loopback: lean ones that answer as they should, and raw sockets that do not."""

import asyncio
import contextlib
import gzip
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn

from spotthebot.kit.processes.sockets import bind
from tests.factories.running_suite import serve_all

Answer = Callable[[dict[str, Any]], Any]
"""What a bot says to a question's JSON: a JSON value, a (status, JSON) pair, or an awaitable of either."""
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Bot:
    """A lean ASGI bot that remembers what it was asked, with headers."""

    answer: Answer
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    at_once: int = 0
    max_at_once: int = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body = b""
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        self.at_once += 1
        self.max_at_once = max(self.max_at_once, self.at_once)
        try:
            status, value = await self._say(scope, body)
        finally:
            self.at_once -= 1
        headers = [(b"content-type", b"application/json")]
        if status == 429:
            headers.append((b"retry-after", b"0"))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(value).encode()})

    async def _say(self, scope: Any, body: bytes) -> tuple[int, Any]:
        self.bodies.append(body)
        self.headers.append({name.decode(): value.decode() for name, value in scope["headers"]})
        question = json.loads(body or b"{}")
        self.asked.append(question)
        said = self.answer(question)
        if asyncio.iscoroutine(said):
            said = await said
        return said if isinstance(said, tuple) else (200, said)


@asynccontextmanager
async def bot(answer: Answer) -> AsyncIterator[tuple[Bot, str]]:
    """Serve a lean bot; gives it and its URL."""
    made = Bot(answer)
    with contextlib.closing(bind("127.0.0.1", 0)) as sock:
        config = uvicorn.Config(made, log_config=None, lifespan="off", http="httptools", access_log=False)
        async with serve_all([(config, sock)]):
            yield made, f"http://127.0.0.1:{sock.getsockname()[1]}"


def well_behaved(question: dict[str, Any]) -> dict[str, str]:
    """Answer from the question alone, differently to each."""
    turns = question["turns"]
    last = turns[-1]["text"] if turns else "nothing yet"
    return {"text": f"You said {last[:40]!r} after {len(turns)} turns; tell me more about it."}


def webhook(url: str, **more: Any) -> dict[str, Any]:
    """Return what is POSTed to register a webhook bot."""
    return {"name": "ours", "domains": ["everyday"], "protocol": {"kind": "webhook", "url": url}} | more


@asynccontextmanager
async def raw_server(talk: Talk, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """Serve raw bytes on each connection; gives the base URL."""
    talking: set[asyncio.Task[Any]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if task := asyncio.current_task():
            talking.add(task)
            task.add_done_callback(talking.discard)
        with contextlib.suppress(ConnectionError, asyncio.CancelledError, ssl.SSLError):
            await talk(reader, writer)
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    try:
        port = server.sockets[0].getsockname()[1]
        yield f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    finally:
        server.close()
        for task in talking:
            task.cancel()
        await asyncio.gather(*talking, return_exceptions=True)
        await server.wait_closed()


async def read_request(reader: asyncio.StreamReader) -> None:
    """Read one request, so that the client is done sending."""
    head = await reader.readuntil(b"\r\n\r\n")
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            await reader.readexactly(int(line.split(b":")[1]))


def says(body: bytes, *, headers: bytes = b"Content-Type: application/json\r\n", status: bytes = b"200 OK") -> Talk:
    """Answer each request with these bytes."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        length = f"Content-Length: {len(body)}\r\n".encode()
        writer.write(b"HTTP/1.1 " + status + b"\r\n" + headers + length + b"\r\n" + body)
        await writer.drain()

    return talk


async def never_answers(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    await read_request(reader)
    await asyncio.sleep(60)


async def hangs_up(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    await read_request(reader)


async def slow_headers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await read_request(reader)
    writer.write(b"HTTP/1.1 200 OK\r\n")
    for number in range(1000):
        writer.write(f"X-Slow-{number}: 1\r\n".encode())
        await writer.drain()
        await asyncio.sleep(0.05)


async def slow_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await read_request(reader)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n")
    for _ in range(1000):
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.05)


async def endless_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await read_request(reader)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
        await writer.drain()


async def endless_headers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await read_request(reader)
    writer.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
    while True:
        writer.write(b"a" * 0x10000)
        await writer.drain()


def hundred_megabytes() -> Talk:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        length = b"Content-Length: 104857600\r\n"
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + length + b'\r\n{"text": "')
        for _ in range(1600):
            writer.write(b"a" * 65536)
            await writer.drain()

    return talk


def gzip_bomb(megabytes: int = 100) -> Talk:
    bomb = gzip.compress(b'{"text": "' + b"a" * (megabytes * 1024 * 1024) + b'"}', compresslevel=9)
    return says(bomb, headers=b"Content-Type: application/json\r\nContent-Encoding: gzip\r\n")
