"""The one HTTP client that calls servers of others."""

import asyncio
import json
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from types import TracebackType
from typing import Any, Self

import aiohttp
from yarl import URL

from spotthebot.kit.outbound.connections import Connection, IdleConnections, WholeAnswer
from spotthebot.kit.outbound.errors import AddressNotAllowed, CallFailed, Failure
from spotthebot.kit.outbound.resolver import CheckingResolver

LARGEST_BODY = 1024 * 1024
"""Bytes of an answer that are read, compressed or not; the rest of a larger one is left where it is."""
_USER_AGENT = "spotthebot"
_OWN_HEADERS = f"Accept-Encoding: identity\r\nUser-Agent: {_USER_AGENT}\r\n"
_PRINTABLE = re.compile(r"[\x21-\x7e]+")
_TRANSIENT = frozenset({502, 503, 504})
_LONGEST_WAIT = 3600.0


@dataclass(frozen=True)
class Answer:
    """An answer with a 2xx status."""

    status: int
    media_type: str
    body: bytes

    def json(self) -> Any:  # noqa: ANN401 - JSON
        """Return the body as JSON; raises CallFailed where it is none or says that it is none."""
        if self.media_type != "application/json" and not self.media_type.endswith("+json"):
            raise CallFailed(Failure.INVALID, f"The answer is {self.media_type or 'of no type'}, not application/json.")
        try:
            return json.loads(self.body.decode("utf-8"), parse_constant=_no_constant)
        except UnicodeDecodeError as error:
            raise CallFailed(
                Failure.INVALID, f"The answer is not UTF-8: {error.reason} at byte {error.start}."
            ) from error
        except (ValueError, RecursionError) as error:
            raise CallFailed(Failure.INVALID, f"The answer is not JSON: {error}.") from error


@dataclass(frozen=True)
class _Target:
    """Where requests to a URL go, and how each of them begins."""

    host: str
    port: int
    is_tls: bool
    origin: tuple[str, int, bool]
    """The three above: requests to one origin share connections."""
    head: str


class GuardedHttp:
    """Connections, kept open for the next call and shared by nobody but the same host.

    There is no limit on them here: how many calls are made at once is for the caller to bound.
    """

    def __init__(self, resolver: CheckingResolver) -> None:
        self.resolver = resolver
        self._idle = IdleConnections()
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(
            resolver=self.resolver,
            use_dns_cache=False,
            limit=0,
            happy_eyeballs_delay=None,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None),
            headers={"Accept-Encoding": "identity", "User-Agent": _USER_AGENT},
            trust_env=False,
        )
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._idle.close()
        if self._session is not None:
            await self._session.close()

    async def post(self, url: str, body: bytes, headers: Mapping[str, str], *, largest: int = LARGEST_BODY) -> Answer:
        """POST and return the whole answer; raises CallFailed. The caller bounds the time."""
        try:
            target = _target(url)
            request = _request(target, headers, body)
            connection = self._idle.take(target.origin) or await self._connect(target)
        except AddressNotAllowed as error:
            raise CallFailed(Failure.UNREACHABLE, error.detail) from error
        except (OSError, ValueError) as error:
            raise _unreachable(error) from error
        answer = await connection.ask(request, largest)
        self._idle.give_back(target.origin, connection)
        if 200 <= answer.status < 300:
            media_type = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
            return Answer(answer.status, media_type, bytes(answer.body))
        raise _refused(answer)

    async def _connect(self, target: _Target) -> Connection:
        """Connect to the first address that takes the connection: each was checked, and none is resolved again."""
        context, name = (_tls_context(), target.host.rstrip(".")) if target.is_tls else (None, None)
        connect = asyncio.get_running_loop().create_connection
        failed: OSError | None = None
        for address in await self.resolver.addresses_of(target.host, target.port):
            try:
                _, connection = await connect(Connection, address, target.port, ssl=context, server_hostname=name)
            except OSError as error:
                failed = error
            else:
                return connection
        raise failed or OSError("the name has no address")

    async def open_socket(self, url: str, *, largest: int = LARGEST_BODY) -> aiohttp.ClientWebSocketResponse:
        """Open a websocket, which the caller closes; raises CallFailed."""
        try:
            return await self._checked(url).ws_connect(URL(url, encoded=True), max_msg_size=largest)
        except AddressNotAllowed as error:
            raise CallFailed(Failure.UNREACHABLE, error.detail) from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _unreachable(error) from error

    def _checked(self, url: str) -> aiohttp.ClientSession:
        if self._session is None:
            message = "the client is not open"
            raise RuntimeError(message)
        host = URL(url, encoded=True).host or ""
        try:
            self.resolver.check(host, host)  # a literal address is never resolved
        except AddressNotAllowed:
            raise
        except ValueError:
            return self._session  # a name: checked when it is resolved
        return self._session


@lru_cache(maxsize=4096)
def _target(url: str) -> _Target:
    """Read a URL; raises ValueError."""
    parsed = URL(url, encoded=True)
    host, port, path = parsed.raw_host, parsed.port, parsed.raw_path_qs
    if parsed.scheme not in {"http", "https"} or not host or port is None:
        message = "it is no http:// or https:// URL of a host"
        raise ValueError(message)
    if parsed.raw_user is not None or parsed.raw_password is not None:
        message = "it holds a user or a password"
        raise ValueError(message)
    if not _PRINTABLE.fullmatch(path):
        message = "its path holds characters that have to be escaped"
        raise ValueError(message)
    head = f"POST {path} HTTP/1.1\r\nHost: {parsed.host_port_subcomponent}\r\n{_OWN_HEADERS}"
    is_tls = parsed.scheme == "https"
    return _Target(host, port, is_tls, (host, port, is_tls), head)


def _request(target: _Target, headers: Mapping[str, str], body: bytes) -> bytes:
    """Write a request; raises ValueError where a header would end before its value does."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    if lines.count("\n") != len(headers) or lines.count("\r") != len(headers) or "\0" in lines:
        message = "a header holds a line end or NUL"
        raise ValueError(message)
    return f"{target.head}{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body


@cache
def _tls_context() -> ssl.SSLContext:
    return ssl.create_default_context()


def _refused(answer: WholeAnswer) -> CallFailed:
    status = answer.status
    if 300 <= status < 400:
        where = answer.headers.get("location", "nowhere")
        detail = f"It redirects ({status}) to {where}, which is not followed: register the final URL."
        return CallFailed(Failure.HTTP_ERROR, detail, status=status)
    said = answer.body[:300].decode("utf-8", "replace").strip()
    detail = f"It answered {status} {answer.reason}{': ' if said else ''}{said}".strip()
    after = answer.headers.get("retry-after", "")
    wait = min(float(after), _LONGEST_WAIT) if after.isascii() and after.isdigit() else None
    if status == 429:
        return CallFailed(Failure.RATE_LIMITED, detail, transient=True, retry_after_seconds=wait, status=status)
    return CallFailed(
        Failure.HTTP_ERROR, detail, transient=status in _TRANSIENT, retry_after_seconds=wait, status=status
    )


def _unreachable(error: Exception) -> CallFailed:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, AddressNotAllowed):
            return CallFailed(Failure.UNREACHABLE, cause.detail)
        if isinstance(cause, ssl.SSLError | ssl.CertificateError | aiohttp.ClientSSLError):
            return CallFailed(Failure.UNREACHABLE, f"TLS failed: {cause}.")
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, aiohttp.ClientResponseError):
        return CallFailed(Failure.INVALID, f"What it sends is not HTTP: {error.message}.")
    if isinstance(error, aiohttp.InvalidURL | ValueError):
        return CallFailed(Failure.UNREACHABLE, f"The URL can't be called: {error}.")
    said = str(error) or type(error).__name__
    return CallFailed(Failure.UNREACHABLE, f"There is no connection: {said}.", transient=True)


def _no_constant(name: str) -> None:
    message = f"{name} is no JSON"
    raise ValueError(message)
