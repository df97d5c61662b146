"""The connection to one service: time-outs, retries of repeatable requests, propagated traces, typed errors.

`Channel` holds the logic once, as coroutines. Its subclass `AsyncChannel` awaits httpx. Its subclass `BlockingChannel`
calls httpx without awaiting: its coroutines never wait for an event loop, so `operations.drive` can run them.
"""

import asyncio
import logging
import random
import ssl
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from itertools import count
from typing import Any

import httpx

from spotthebot.clients.errors import PeerUnavailable, refusal, retry_after
from spotthebot.clients.requests import Content, Request, encoded
from spotthebot.kit.telemetry.tracing import outgoing_headers
from spotthebot.kit.waits.backoff import Backoff

TRANSIENT = frozenset(
    {
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    }
)
"""Statuses after which another attempt may succeed."""
_PEER_REFUSED = b'"urn:spotthebot:problem:peer-refused"'
_CONNECT_SECONDS = 5.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Retries:
    """How often a request is tried, and how long to wait in between: exponential backoff with jitter.

    If an answer has the header `Retry-After`, its time replaces the wait. If all waits together would exceed
    `max_seconds`, the last answer is returned.
    """

    attempts: int = 6
    first_wait_seconds: float = 0.2
    max_wait_seconds: float = 5.0
    jitter_seconds: float = 1.0
    max_seconds: float = 45.0

    def wait_seconds(self, attempt: int, elapsed: float, hint: int | None) -> float | None:
        """Return how long to wait after attempt number `attempt`, counted from 1; None if it was the last attempt."""
        if attempt >= self.attempts:
            return None
        if hint is None:
            jitter = random.uniform(0, self.jitter_seconds)  # noqa: S311 - no secret
            backoff = Backoff(self.first_wait_seconds, self.max_wait_seconds)
            wait = min(self.max_wait_seconds, backoff.seconds(attempt) + jitter)
        else:
            wait = float(hint)
        return wait if elapsed + wait <= self.max_seconds else None


class Channel(ABC):
    """Sends requests to one service with one API key."""

    http: httpx.Client | httpx.AsyncClient

    def __init__(self, peer: str, retries: Retries) -> None:
        self.peer = peer
        self._retries = retries

    async def call(self, request: Request) -> bytes:
        """Return the body of the answer; raises PeerRefused and PeerUnavailable."""
        response = await self._answer(request, stream=False)
        if response.is_error:
            raise self._refusal(request, response)
        return response.content

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[AsyncIterator[bytes]]:
        """Yield an iterator over the pieces of the answer's body, as they arrive.

        It raises PeerUnavailable if the answer breaks off.
        """
        response = await self._answer(request, stream=True)
        try:
            if response.is_error:
                await self._read(response)
                raise self._refusal(request, response)
            async with aclosing(self._pieces(response)) as pieces:
                yield pieces
        except httpx.TransportError as error:
            raise self._unavailable(error) from error
        finally:
            await self._close(response)

    async def _answer(self, request: Request, *, stream: bool) -> httpx.Response:
        started = time.monotonic()
        for attempt in count(1):
            try:
                response = await self._send(self._built(request), stream=stream)
            except httpx.TransportError as error:
                wait = self._wait(request, attempt, started, None)
                if wait is None:
                    raise self._unavailable(error) from error
                reason = _reason(error)
            else:
                hint = retry_after(response.headers.get("Retry-After"))
                if not _may_pass(request, response, hint) or await self._is_refused_further_on(response):
                    return response
                wait = self._wait(request, attempt, started, hint)
                if wait is None:
                    return response
                reason = str(response.status_code)
                await self._close(response)
            _log.info("%s %s of %s again in %.1f s: %s", request.method, request.path, self.peer, wait, reason)
            await self._sleep(wait)
        raise AssertionError

    async def _is_refused_further_on(self, response: httpx.Response) -> bool:
        """Return whether the service passes on a refusal by another service, which would refuse again.

        Then a retry is useless. Only a 502 from a proxy is transient.
        """
        if response.status_code != HTTPStatus.BAD_GATEWAY:
            return False
        await self._read(response)
        return _PEER_REFUSED in response.content

    def _built(self, request: Request) -> httpx.Request:
        headers = {**request.headers, **outgoing_headers()}
        content: Any = None
        if request.body is not None:
            content = encoded(request.body)
            headers["Content-Type"] = "application/json"
        elif request.content is not None:
            content = self._sendable(request.content)
            headers["Content-Type"] = "application/octet-stream"
        params: Mapping[str, Any] = {name: value for name, value in request.params.items() if value is not None}
        return self.http.build_request(request.method, request.path, params=params, content=content, headers=headers)

    def _wait(self, request: Request, attempt: int, started: float, hint: int | None) -> float | None:
        if not request.may_be_repeated:
            return None
        return self._retries.wait_seconds(attempt, time.monotonic() - started, hint)

    def _refusal(self, request: Request, response: httpx.Response) -> Exception:
        return refusal(
            self.peer, request.method, request.path, response.status_code, response.headers, response.content
        )

    def _unavailable(self, error: Exception) -> PeerUnavailable:
        return PeerUnavailable(peer=self.peer, reason=_reason(error))

    @abstractmethod
    async def close(self) -> None: ...

    @abstractmethod
    async def _send(self, request: httpx.Request, *, stream: bool) -> httpx.Response: ...

    @abstractmethod
    async def _read(self, response: httpx.Response) -> None: ...

    @abstractmethod
    async def _close(self, response: httpx.Response) -> None: ...

    @abstractmethod
    def _pieces(self, response: httpx.Response) -> AsyncGenerator[bytes, None]: ...

    @abstractmethod
    async def _sleep(self, seconds: float) -> None: ...

    @abstractmethod
    def _sendable(self, content: Content) -> object: ...


class AsyncChannel(Channel):
    """A channel on an event loop."""

    def __init__(self, peer: str, base_url: str, key: str, timeout_seconds: float, retries: Retries) -> None:
        super().__init__(peer, retries)
        # An explicit transport, so that no proxy from the environment is used.
        self.http = self._client = httpx.AsyncClient(
            transport=httpx.AsyncHTTPTransport(verify=_tls(base_url)), **_settings(base_url, key, timeout_seconds)
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def _send(self, request: httpx.Request, *, stream: bool) -> httpx.Response:
        return await self._client.send(request, stream=stream)

    async def _read(self, response: httpx.Response) -> None:
        await response.aread()

    async def _close(self, response: httpx.Response) -> None:
        await response.aclose()

    async def _pieces(self, response: httpx.Response) -> AsyncGenerator[bytes, None]:
        async for piece in response.aiter_bytes():
            yield piece

    async def _sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def _sendable(self, content: Content) -> AsyncGenerator[bytes, None]:
        pieces = content.pieces()
        while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
            yield piece


class BlockingChannel(Channel):
    """A channel that blocks the thread. Its coroutines never wait for an event loop."""

    def __init__(self, peer: str, base_url: str, key: str, timeout_seconds: float, retries: Retries) -> None:
        super().__init__(peer, retries)
        self.http = self._client = httpx.Client(
            transport=httpx.HTTPTransport(verify=_tls(base_url)), **_settings(base_url, key, timeout_seconds)
        )

    async def close(self) -> None:
        self._client.close()

    async def _send(self, request: httpx.Request, *, stream: bool) -> httpx.Response:
        return self._client.send(request, stream=stream)

    async def _read(self, response: httpx.Response) -> None:
        response.read()

    async def _close(self, response: httpx.Response) -> None:
        response.close()

    async def _pieces(self, response: httpx.Response) -> AsyncGenerator[bytes, None]:
        for piece in response.iter_bytes():
            yield piece

    async def _sleep(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: ASYNC251 - no event loop runs this

    def _sendable(self, content: Content) -> object:
        return content.pieces()


def _may_pass(request: Request, response: httpx.Response, hint: int | None) -> bool:
    """Return whether another attempt may succeed.

    For example, the first request with an idempotency key may still be running. The answer to the second one says how
    long to wait.
    """
    still_runs = response.status_code == HTTPStatus.CONFLICT and hint is not None
    return response.status_code in TRANSIENT or (still_runs and "Idempotency-Key" in request.headers)


def _tls(base_url: str) -> ssl.SSLContext | bool:
    """Read the certificates of the system once, and only for an https address: reading takes a tenth of a second."""
    return _certificates() if base_url.startswith("https:") else False


@cache
def _certificates() -> ssl.SSLContext:
    return httpx.create_ssl_context()


def _settings(base_url: str, key: str, timeout_seconds: float) -> dict[str, Any]:
    return {
        "base_url": base_url.rstrip("/"),
        "headers": {"Authorization": f"Bearer {key}"} if key else {},
        "timeout": httpx.Timeout(timeout_seconds, connect=min(timeout_seconds, _CONNECT_SECONDS)),
    }


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
