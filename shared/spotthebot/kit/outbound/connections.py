"""HTTP/1.1 connections to servers of other people. Each sends one request at a time; httptools parses the answers.

A general client needs six times the processor time of this subset of HTTP: the body of a request is in memory, and the
answer is read whole, up to a limit. A connection is closed after any error, and if a server sends more than its answer.
"""

import asyncio
import time
import zlib
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import cast

import httptools

from spotthebot.kit.outbound.errors import CallFailed, Failure

_IDLE_SECONDS = 30.0
_MAX_HEAD_BYTES = 64 * 1024
_INFLATED = frozenset({"gzip", "deflate"})
_NOT_COMPRESSED = frozenset({"", "identity"})


@dataclass
class WholeAnswer:
    """An answer with any status. Names of headers are in lower case; of a repeated header the first value is kept."""

    status: int = 0
    reason: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)


class Connection(asyncio.Protocol):
    """One connection. It can send another request only while `is_reusable`."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._answered: asyncio.Future[WholeAnswer] | None = None
        self._parser: httptools.HttpResponseParser | None = None
        self._inflater: zlib._Decompress | None = None
        self.is_reusable = False

    async def ask(self, request: bytes, largest: int) -> WholeAnswer:
        """Send a request and return its answer of at most `largest` bytes; raises CallFailed after closing."""
        if self._transport is None or self._transport.is_closing():
            raise _disconnected(None)
        self.is_reusable = False
        self._largest = largest
        self._parser = httptools.HttpResponseParser(self)
        self._head_bytes = self._body_bytes = 0
        self._begin()
        self._answered = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        try:
            return await self._answered
        finally:
            self._answered = self._parser = None
            if not self.is_reusable:
                self.close()

    def close(self) -> None:
        """Close the connection at once. Bytes that are not sent or not read are lost."""
        self.is_reusable = False
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # also that of uvloop

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self.is_reusable = False
        if not self._is_waiting:
            return
        if self._head_ended and not self._has_length and error is None:
            self._succeed()
        elif self._head_ended:
            detail = "The answer ended before it was complete."
            self._fail(CallFailed(Failure.INVALID, detail, transient=True, status=self._answer.status))
        else:
            self._fail(_disconnected(error))

    def data_received(self, data: bytes) -> None:
        if self._parser is None or not self._is_waiting:
            self.close()  # bytes without a request
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            detail = "The server's answer is not HTTP: it changes to another protocol."
            self._fail(CallFailed(Failure.INVALID, detail, status=self._answer.status))
        except httptools.HttpParserError as error:
            status = self._answer.status if self._head_ended else None
            self._fail(CallFailed(Failure.INVALID, f"The server's answer is not HTTP: {error}.", status=status))
        if not self._head_ended:
            self._head_bytes += len(data)
            if self._head_bytes > _MAX_HEAD_BYTES:
                detail = f"The server's answer is not HTTP: its headers are longer than {_MAX_HEAD_BYTES} bytes."
                self._fail(CallFailed(Failure.INVALID, detail))

    def on_message_begin(self) -> None:
        if self._is_waiting:
            self._begin()
        else:
            self.close()  # a second answer to one request

    def on_status(self, reason: bytes) -> None:
        self._answer.reason += reason.decode("utf-8", "replace")

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._head_ended:  # no trailers
            self._answer.headers.setdefault(name.decode("latin-1").lower(), value.decode("utf-8", "replace").strip())

    def on_headers_complete(self) -> None:
        status = self._answer.status = self._parser.get_status_code() if self._parser is not None else 0
        if status < 200:
            return  # the final answer follows
        headers = self._answer.headers
        self._head_ended = True
        self._has_length = "content-length" in headers or "transfer-encoding" in headers
        encoding = headers.get("content-encoding", "").lower()
        if encoding in _INFLATED:
            self._inflater = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
        elif encoding not in _NOT_COMPRESSED:
            detail = f"The answer is compressed with {encoding}, which was not asked for."
            self._fail(CallFailed(Failure.INVALID, detail, status=status))

    def on_body(self, chunk: bytes) -> None:
        if not self._is_waiting:
            return
        body, status = self._answer.body, self._answer.status
        self._body_bytes += len(chunk)
        try:
            body += chunk if self._inflater is None else self._inflater.decompress(chunk, self._largest + 1 - len(body))
        except zlib.error as error:
            detail = f"The answer can't be decompressed: {error}."
            self._fail(CallFailed(Failure.INVALID, detail, status=status))
        else:
            if max(self._body_bytes, len(body)) > self._largest:
                detail = f"The answer is larger than {self._largest} bytes."
                self._fail(CallFailed(Failure.TOO_LONG, detail, status=status))

    def on_message_complete(self) -> None:
        if self._is_waiting and self._head_ended and self._parser is not None:
            self.is_reusable = self._parser.should_keep_alive()
            self._succeed()

    @property
    def _is_waiting(self) -> bool:
        return self._answered is not None and not self._answered.done()

    def _begin(self) -> None:
        self._answer = WholeAnswer()
        self._head_ended = self._has_length = False
        self._inflater = None

    def _succeed(self) -> None:
        if self._answered is not None:
            self._answered.set_result(self._answer)
            self._answer = WholeAnswer()  # further bytes of the same packet belong to no answer

    def _fail(self, failure: CallFailed) -> None:
        if self._answered is not None and not self._answered.done():
            self._answered.set_exception(failure)
        self.close()


class IdleConnections:
    """Idle connections by their destination. A connection that is not used for some time is closed."""

    def __init__(self) -> None:
        self._idle: dict[Hashable, deque[tuple[Connection, float]]] = {}
        self._closing: asyncio.TimerHandle | None = None

    def take(self, key: Hashable) -> Connection | None:
        """Return the idle connection that was used last; None if there is none.

        Its server is the least likely to have closed it already.
        """
        idle = self._idle.get(key)
        while idle:
            connection, _ = idle.pop()
            if connection.is_reusable:
                return connection
        return None

    def give_back(self, key: Hashable, connection: Connection) -> None:
        if not connection.is_reusable:
            return
        self._idle.setdefault(key, deque()).append((connection, time.monotonic()))
        if self._closing is None:
            self._closing = asyncio.get_running_loop().call_later(_IDLE_SECONDS, self._close_oldest)

    def close(self) -> None:
        """Close all idle connections."""
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None
        for idle in self._idle.values():
            for connection, _ in idle:
                connection.close()
        self._idle.clear()

    def _close_oldest(self) -> None:
        self._closing = None
        now = time.monotonic()
        for key, idle in list(self._idle.items()):
            while idle and (now - idle[0][1] >= _IDLE_SECONDS or not idle[0][0].is_reusable):
                idle.popleft()[0].close()
            if not idle:
                del self._idle[key]
        if self._idle:
            oldest = min(idle[0][1] for idle in self._idle.values())
            delay = oldest + _IDLE_SECONDS - now
            self._closing = asyncio.get_running_loop().call_later(delay, self._close_oldest)


def _disconnected(error: Exception | None) -> CallFailed:
    reason = error or "the server closed it"
    return CallFailed(Failure.UNREACHABLE, f"The connection failed: {reason}.", transient=True)
