"""The only HTTP client that calls servers of other people."""

import asyncio
import json
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from types import SimpleNamespace, TracebackType
from typing import Any, Self

import aiohttp
from yarl import URL

from spotthebot.kit.outbound.connections import Connection, IdleConnections, WholeAnswer
from spotthebot.kit.outbound.errors import AddressNotAllowed, CallFailed, Failure, NothingAnswers, UrlNotUsable
from spotthebot.kit.outbound.resolver import CheckingResolver
from spotthebot.kit.outbound.urls import HTTP, SOCKET, Url, read_url

LARGEST_BODY = 1024 * 1024
"""How many bytes of an answer are read, compressed or not. A larger answer is not read to its end."""
_USER_AGENT = "spotthebot"
_OWN_HEADERS = f"Accept-Encoding: identity\r\nUser-Agent: {_USER_AGENT}\r\n"
TRANSIENT = frozenset({502, 503, 504})
_LONGEST_WAIT = 3600.0
_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]+)?")


@dataclass(frozen=True)
class Answer:
    """An answer with a 2xx status."""

    status: int
    media_type: str
    body: bytes
    retry_after_seconds: float | None = None
    """The wait in a `Retry-After` header. Bots also send it with errors that they report inside an answer."""

    def json(self) -> Any:  # noqa: ANN401 - JSON
        """Return the body as JSON; raises CallFailed if it is malformed or declares another content type."""
        if self.media_type != "application/json" and not self.media_type.endswith("+json"):
            raise CallFailed(
                Failure.INVALID, f"The answer's content type is {self.media_type or 'missing'}, not application/json."
            )
        try:
            return read_json(self.body.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise CallFailed(
                Failure.INVALID, f"The answer is not UTF-8: {error.reason} at byte {error.start}."
            ) from error
        except ValueError as error:
            raise CallFailed(Failure.INVALID, f"The answer is not JSON: {error}.") from error


class GuardedHttp:
    """HTTP connections that stay open for further calls to the same host.

    Their number is not limited here: the caller limits how many calls are made at once. If a server gives no HTTP
    answer, the error is NothingAnswers, which hides the cause. A client that `names_causes` reports the cause; it calls
    our own servers, or runs on a user's machine.
    """

    def __init__(self, resolver: CheckingResolver, *, names_causes: bool = False) -> None:
        self.resolver = resolver
        self.names_causes = names_causes
        self._idle = IdleConnections()
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(
            resolver=self.resolver,
            use_dns_cache=False,
            limit=0,
            happy_eyeballs_delay=None,
            socket_factory=self._checked_socket,
        )
        redirects = aiohttp.TraceConfig()
        redirects.on_request_redirect.append(_refuse_redirect)
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None),
            headers={"Accept-Encoding": "identity", "User-Agent": _USER_AGENT},
            trust_env=False,
            trace_configs=[redirects],
        )
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._idle.close()
        if self._session is not None:
            await self._session.close()

    async def post(self, url: str, body: bytes, headers: Mapping[str, str], *, largest: int = LARGEST_BODY) -> Answer:
        """POST a body and return the whole answer; raises CallFailed. The caller limits the time."""
        try:
            target = read_url(url, HTTP)
            request = _request(target, headers, body)
            origin = target.host, target.port, target.is_tls
            connection = self._idle.take(origin) or await self._connect(target)
            answer = await connection.ask(request, largest)
        except _TROUBLE as error:
            raise self._failure(error) from None
        self._idle.give_back(origin, connection)
        if 200 <= answer.status < 300:
            media_type = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
            wait = _seconds_after(answer.headers.get("retry-after", ""))
            return Answer(answer.status, media_type, bytes(answer.body), wait)
        raise _refused(answer)

    async def open_socket(self, url: str, *, largest: int = LARGEST_BODY) -> aiohttp.ClientWebSocketResponse:
        """Open a websocket; raises CallFailed. The caller closes the websocket."""
        if self._session is None:
            message = "the client is not open"
            raise RuntimeError(message)
        try:
            read_url(url, SOCKET)
            return await self._session.ws_connect(URL(url, encoded=True), max_msg_size=largest)
        except _TROUBLE as error:
            raise self._failure(error) from None

    async def _connect(self, target: Url) -> Connection:
        """Connect to the first checked address that accepts the connection. The name is not resolved again."""
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

    def _checked_socket(self, found: aiohttp.AddrInfoType) -> socket.socket:
        """Make the socket of a connection for a websocket; raises AddressNotAllowed."""
        family, kind, protocol, _, address = found
        self.resolver.check(str(address[0]), str(address[0]))
        return socket.socket(family, kind, protocol)

    def _failure(self, error: Exception) -> CallFailed:
        """Return the failure for the caller.

        It hides the cause if the cause would reveal which ports of a machine are open.
        """
        for each in _with_causes(error):
            if isinstance(each, AddressNotAllowed | UrlNotUsable):
                return CallFailed(Failure.UNREACHABLE, each.detail)
        failed = error if isinstance(error, CallFailed) else _explained(error)
        return failed if failed.status is not None or self.names_causes else NothingAnswers()


_TROUBLE = (CallFailed, AddressNotAllowed, UrlNotUsable, aiohttp.ClientError, OSError, ValueError)


async def _refuse_redirect(
    _session: aiohttp.ClientSession, _context: SimpleNamespace, found: aiohttp.TraceRequestRedirectParams
) -> None:
    """Refuse a redirect, which aiohttp would silently follow for a websocket."""
    found.response.close()
    raise _redirected(found.response.status, found.response.headers.get("Location", "nowhere"))


def _request(target: Url, headers: Mapping[str, str], body: bytes) -> bytes:
    """Return the bytes of a request; raises UrlNotUsable if a header value holds a line end or NUL."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    if lines.count("\n") != len(headers) or lines.count("\r") != len(headers) or "\0" in lines:
        raise UrlNotUsable(reason="a header would hold a line end or NUL")
    head = f"POST {target.target} HTTP/1.1\r\nHost: {target.authority}\r\n{_OWN_HEADERS}"
    return f"{head}{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body


@cache
def _tls_context() -> ssl.SSLContext:
    return ssl.create_default_context()


def _refused(answer: WholeAnswer) -> CallFailed:
    status = answer.status
    if 300 <= status < 400:
        return _redirected(status, answer.headers.get("location", "nowhere"))
    is_page = answer.headers.get("content-type", "").startswith("text/html")  # its tags would hide the reason
    said = "" if is_page else answer.body[:300].decode("utf-8", "replace").strip()
    detail = f"It answered {status} {answer.reason}{': ' if said else ''}{said}".strip()
    wait = _seconds_after(answer.headers.get("retry-after", ""))
    if status == 429:
        return CallFailed(Failure.RATE_LIMITED, detail, transient=True, retry_after_seconds=wait, status=status)
    return CallFailed(
        Failure.HTTP_ERROR, detail, transient=status in TRANSIENT, retry_after_seconds=wait, status=status
    )


def _redirected(status: int, where: str) -> CallFailed:
    detail = f"It redirects ({status}) to {where}, and redirects are not followed: register the final URL."
    return CallFailed(Failure.HTTP_ERROR, detail, status=status)


def _explained(error: Exception) -> CallFailed:
    for each in _with_causes(error):
        if isinstance(each, ssl.SSLError | aiohttp.ClientSSLError):
            return CallFailed(Failure.UNREACHABLE, f"TLS failed: {each}.")
    if isinstance(error, aiohttp.WSServerHandshakeError):
        detail = f"It answered {error.status} and opened no websocket."
        return CallFailed(Failure.HTTP_ERROR, detail, transient=error.status in TRANSIENT, status=error.status)
    if isinstance(error, aiohttp.ClientResponseError):
        return CallFailed(Failure.INVALID, f"The server's answer is not HTTP: {error.message}.")
    said = str(error) or type(error).__name__
    return CallFailed(Failure.UNREACHABLE, f"The connection failed: {said}.", transient=True)


def _with_causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _seconds_after(said: str) -> float | None:
    """Return the wait in a `Retry-After` header (RFC 9110, section 10.2.3), at most an hour; None if malformed.

    Decimal numbers are accepted too: the RFC does not allow them, but servers send them.
    """
    if _SECONDS.fullmatch(said):
        return min(float(said), _LONGEST_WAIT)
    try:
        at = parsedate_to_datetime(said)
    except (ValueError, IndexError, OverflowError):
        return None
    left = (at if at.tzinfo else at.replace(tzinfo=UTC)) - datetime.now(UTC)
    return min(max(0.0, left.total_seconds()), _LONGEST_WAIT)


def read_json(text: str) -> Any:  # noqa: ANN401 - JSON
    """Return the value of a JSON text from a stranger; raises ValueError.

    NaN and numbers of any length are accepted, since they are mostly in fields that nobody reads.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except ValueError:  # more digits than Python converts to an integer
        return json.loads(text, parse_int=float)
    except RecursionError:
        message = "it is nested too deeply"
        raise ValueError(message) from None
