"""uvicorn's HTTP protocol with limits.

The limits are the size of a request's head, the time for head and body, the number of pipelined requests, and the time
that a client may take to read a response.
"""

import asyncio
from http import HTTPStatus
from typing import Any, Final

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from spotthebot.kit.serving.connections import ConnectionTable, network_of

MAX_HEAD_BYTES: Final = 32 * 1024
"""The limit for the request line, headers and trailers of one request together."""
_MAX_PIPELINED: Final = 16
_BODY_BYTES_PER_SECOND: Final = 1024
_LINGER_SECONDS: Final = 2.0
_STALLED_SECONDS: Final = 120.0


class _Refused(Exception):
    """Stops the parser. The response states the reason."""


class LimitedConfig(uvicorn.Config):
    """uvicorn's configuration, together with the table of the server's connections."""

    table: ConnectionTable


class LimitedProtocol(HttpToolsProtocol):
    """One connection. Its time is limited while a head or a body arrives, not while a request is answered.

    A body may take a fixed time plus one second for each KiB. Time in which the application does not read does not
    count. A request may be answered before its body has arrived, for example if it has no API key. In this case the
    rest of the body is read and dropped for two seconds, so that the client can read the answer. After that the
    connection is closed.
    """

    def __init__(self, config: LimitedConfig, *arguments: Any, **more: Any) -> None:  # noqa: ANN401 - uvicorn's
        super().__init__(config, *arguments, **more)
        self.address = ""
        self._table: ConnectionTable = config.table
        self._in_head = True
        self._in_body = False
        self._deadline: float | None = None
        self._waits_since: float = self.loop.time()
        self._head_bytes = 0
        self._unparsed_bytes = 0
        self._refusal: tuple[HTTPStatus, str] | None = None
        self._unwritten = 0
        self._stalled_seconds = 0.0

    @property
    def expendable(self) -> tuple[bool, float] | None:
        return (not self._in_head, self._waits_since) if self._has_no_request() else None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        super().connection_made(transport)
        self.address = network_of(self.client[0]) if self.client else ""
        self._begin_head()
        if not self._table.add(self):
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "Too many connections from this address.")

    def connection_lost(self, exc: Exception | None) -> None:
        self._table.discard(self)
        super().connection_lost(exc)

    def abort(self) -> None:
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        was_in_head = self._in_head
        if not (self._in_head or self._in_body):
            self._begin_head()
        super().data_received(data)
        if was_in_head and self._in_head:  # httptools keeps what it can't parse yet
            self._unparsed_bytes += len(data)
            if self._unparsed_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, _TOO_LONG)

    def on_message_begin(self) -> None:
        self._head_bytes = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count_head(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count_head(name, value)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if len(self.pipeline) >= _MAX_PIPELINED:
            self._stop(HTTPStatus.TOO_MANY_REQUESTS, "Too many requests sent ahead.")
        self._in_head, self._in_body = False, True
        self._deadline = self.loop.time() + self._table.limits.body_seconds
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if self._deadline is not None and not self.cycle.response_complete:
            self._deadline += len(body) / _BODY_BYTES_PER_SECOND
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_body = False
        self._deadline = None
        super().on_message_complete()
        if self.cycle is not None and self.cycle.response_complete:
            self._begin_head()  # uvicorn's own timer was stopped by the rest of the body

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._waits_since = self.loop.time()
        if self._in_body and self._deadline is not None:
            self._deadline = min(self._deadline, self._waits_since + _LINGER_SECONDS)

    def send_400_response(self, msg: str) -> None:
        status, text = self._refusal or (HTTPStatus.BAD_REQUEST, msg)
        self._refuse(status, text)

    def check(self, now: float, seconds: float) -> None:
        if self.transport.is_closing():
            self.transport.abort()  # closed a second ago, and the client has not read the rest
            return
        self._check_reader(seconds)
        if self._deadline is None or now < self._deadline:
            return
        if self._in_head:
            if self._has_no_request():
                self._refuse(HTTPStatus.REQUEST_TIMEOUT, "The request's head took too long.")
        elif self.cycle.response_complete:
            self.transport.abort()
        elif self.flow.read_paused:
            self._deadline += seconds
        elif self.cycle.response_started:
            self.transport.abort()
        else:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "The request's body took too long.")

    def _has_no_request(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _begin_head(self) -> None:
        self._in_head = True
        self._unparsed_bytes = 0
        self._waits_since = self.loop.time()
        self._deadline = self._waits_since + self._table.limits.head_seconds

    def _count_head(self, *parts: bytes) -> None:
        self._head_bytes += sum(map(len, parts))
        if self._head_bytes > MAX_HEAD_BYTES:
            self._stop(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, _TOO_LONG)

    def _stop(self, status: HTTPStatus, text: str) -> None:
        self._refusal = (status, text)
        raise _Refused

    def _refuse(self, status: HTTPStatus, text: str) -> None:
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: text/plain; charset=utf-8\r\n"
            f"content-length: {len(text)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(f"{head}{text}".encode("ascii"))
        self.transport.close()

    def _check_reader(self, seconds: float) -> None:
        unwritten = self.transport.get_write_buffer_size()
        self._stalled_seconds = self._stalled_seconds + seconds if unwritten and unwritten == self._unwritten else 0.0
        self._unwritten = unwritten
        if self._stalled_seconds > _STALLED_SECONDS:
            self.transport.abort()


_TOO_LONG: Final = f"The request line and the headers may hold {MAX_HEAD_BYTES} bytes at most."
