"""The one HTTP client that calls servers of others."""

import json
import ssl
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import aiohttp
from yarl import URL

from spotthebot.kit.outbound.errors import AddressNotAllowed, CallFailed, Failure
from spotthebot.kit.outbound.resolver import CheckingResolver

LARGEST_BODY = 1024 * 1024
"""Bytes of an answer that are read, compressed or not; the rest of a larger one is left where it is."""
_IDLE_SECONDS = 30.0
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


class GuardedHttp:
    """Connections, kept open for the next call and shared by nobody but the same host.

    There is no limit on them here: how many calls are made at once is for the caller to bound.
    """

    def __init__(self, resolver: CheckingResolver) -> None:
        self.resolver = resolver
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(
            resolver=self.resolver,
            use_dns_cache=False,
            limit=0,
            keepalive_timeout=_IDLE_SECONDS,
            happy_eyeballs_delay=None,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None),
            auto_decompress=False,
            headers={"Accept-Encoding": "identity", "User-Agent": "spotthebot"},
            trust_env=False,
        )
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def post(self, url: str, body: bytes, headers: Mapping[str, str], *, largest: int = LARGEST_BODY) -> Answer:
        """POST and return the whole answer; raises CallFailed. The caller bounds the time."""
        try:
            async with self._checked(url).post(
                URL(url, encoded=True), data=body, headers=headers, allow_redirects=False
            ) as response:
                content = await _read(response, largest)
                if 200 <= response.status < 300:
                    media_type = response.content_type if "Content-Type" in response.headers else ""
                    return Answer(response.status, media_type, content)
                raise _refused(response, content)
        except AddressNotAllowed as error:
            raise CallFailed(Failure.UNREACHABLE, error.detail) from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _unreachable(error) from error

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


async def _read(response: aiohttp.ClientResponse, largest: int) -> bytes:
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in {"identity", "", "gzip", "deflate"}:
        detail = f"The answer is compressed with {encoding}, which was not asked for."
        raise CallFailed(Failure.INVALID, detail, status=response.status)
    inflater = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32) if encoding in {"gzip", "deflate"} else None
    content = bytearray()
    try:
        async for chunk in response.content.iter_any():
            content += chunk if inflater is None else inflater.decompress(chunk, largest + 1 - len(content))
            if len(content) > largest:
                response.close()  # not given back to the pool: the rest would have to be read
                raise CallFailed(
                    Failure.TOO_LONG, f"The answer is larger than {largest} bytes.", status=response.status
                )
    except zlib.error as error:
        raise CallFailed(
            Failure.INVALID, f"The answer can't be decompressed: {error}.", status=response.status
        ) from error
    return bytes(content)


def _refused(response: aiohttp.ClientResponse, content: bytes) -> CallFailed:
    status = response.status
    if 300 <= status < 400:
        where = response.headers.get("Location", "nowhere")
        detail = f"It redirects ({status}) to {where}, which is not followed: register the final URL."
        return CallFailed(Failure.HTTP_ERROR, detail, status=status)
    said = content[:300].decode("utf-8", "replace").strip()
    detail = f"It answered {status} {response.reason or ''}{': ' if said else ''}{said}".strip()
    after = response.headers.get("Retry-After", "")
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
    if isinstance(error, aiohttp.ClientPayloadError):
        return CallFailed(Failure.INVALID, "The answer ends before it is whole.", transient=True)
    if isinstance(error, aiohttp.ClientResponseError):
        return CallFailed(Failure.INVALID, f"What it sends is not HTTP: {error.message}.")
    if isinstance(error, aiohttp.InvalidURL | ValueError):
        return CallFailed(Failure.UNREACHABLE, f"The URL can't be called: {error}.")
    said = str(error) or type(error).__name__
    return CallFailed(Failure.UNREACHABLE, f"There is no connection: {said}.", transient=True)


def _no_constant(name: str) -> None:
    message = f"{name} is no JSON"
    raise ValueError(message)
