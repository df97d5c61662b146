"""The client for calls between services: timeouts, retries of what is safe to repeat, the trace passed on."""

import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self

import httpx
import stamina

from spotthebot.kit.errors import Unavailable, UpstreamFailed
from spotthebot.kit.tracing import outgoing_traceparent

_TRANSIENT = {
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
}
_PEER_REFUSED = "urn:spotthebot:problem:peer-refused"
_SAFE_METHODS = {"GET", "PUT", "DELETE"}
_TIMEOUT = httpx.Timeout(60.0, connect=5.0)
_ATTEMPTS = 6
_LONGEST_RETRY_SECONDS = 45.0


class PeerUnavailable(Unavailable):
    """{peer} does not answer: {reason}."""

    title = "Peer unavailable"


class PeerRefused(UpstreamFailed):
    """{peer} answered {status} to {method} {path}: {detail}"""  # noqa: D400 - ends with the peer's own message

    title = "Refused by a peer"

    @property
    def detail(self) -> str:
        """Name the peer and its status only: its message was meant for this service."""
        return f"The service {self.facts['peer']}, which is needed for this, refused our request ({self.status})."

    def __init__(self, *, peer: str, response: httpx.Response) -> None:
        request = response.request
        self.status = response.status_code
        self.faults: list[dict[str, Any]] = []
        detail = response.text[:200] or response.reason_phrase
        with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):  # the body is no problem document
            problem = response.json()
            faults = problem.get("errors", [])
            detail = "; ".join([problem["detail"], *(_fault(fault) for fault in faults)])
            self.faults = faults
        super().__init__(peer=peer, status=self.status, method=request.method, path=request.url.path, detail=detail)


class _Transient(Exception):
    """A response after which another attempt may succeed, kept in case none does."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response


class ServiceClient:
    """Calls one service. Retries GET, PUT, DELETE, and a POST that carries an idempotency key; nothing else."""

    def __init__(self, peer: str, base_url: str, key: str, *, timeout: httpx.Timeout = _TIMEOUT) -> None:
        self.peer = peer
        self.base_url = base_url.rstrip("/")
        self._http = httpx.AsyncClient(
            base_url=self.base_url,
            headers={"Authorization": f"Bearer {key}"},
            timeout=timeout,
            transport=httpx.AsyncHTTPTransport(),  # given, so that no proxy of the environment stands between services
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def get(self, path: str, params: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401 - JSON
        return await self._call("GET", path, params=params)

    async def put(self, path: str, body: object) -> Any:  # noqa: ANN401 - JSON
        return await self._call("PUT", path, body=body)

    async def post(self, path: str, body: object, *, idempotency_key: str | None = None) -> Any:  # noqa: ANN401 - JSON
        return await self._call("POST", path, body=body, idempotency_key=idempotency_key)

    async def send(self, path: str, pieces: AsyncIterator[bytes], params: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401 - JSON
        """POST a body piece by piece as it comes; it is never repeated, since sent pieces are gone."""
        headers = {"Content-Type": "application/octet-stream", "traceparent": outgoing_traceparent()}
        try:
            response = await self._http.post(path, params=params, content=pieces, headers=headers)
        except httpx.TransportError as error:
            raise PeerUnavailable(peer=self.peer, reason=_reason(error)) from error
        if response.is_error:
            raise self._refused(response)
        return response.json()

    async def pages(self, path: str, params: Mapping[str, Any] | None = None) -> AsyncIterator[Any]:
        """Yield the items of all pages of a list."""
        query = {"limit": 1000, **(params or {})}
        while True:
            page = await self.get(path, query)
            for item in page["items"]:
                yield item
            if page["next_cursor"] is None:
                return
            query["cursor"] = page["next_cursor"]

    async def lines(self, path: str, params: Mapping[str, Any] | None = None) -> AsyncIterator[Any]:
        """Yield the objects of an NDJSON stream as they arrive; a stream cut short raises PeerUnavailable."""
        async with self._streamed(path, params) as response:
            async for line in response.aiter_lines():
                yield json.loads(line)

    async def download(self, path: str, params: Mapping[str, Any] | None = None) -> AsyncIterator[bytes]:
        """Yield the bytes of an answer as they arrive; one that is cut short raises PeerUnavailable."""
        async with self._streamed(path, params) as response:
            async for part in response.aiter_bytes():
                yield part

    @contextlib.asynccontextmanager
    async def _streamed(self, path: str, params: Mapping[str, Any] | None) -> AsyncIterator[httpx.Response]:
        headers = {"traceparent": outgoing_traceparent()}
        try:
            async with self._http.stream("GET", path, params=params, headers=headers) as response:
                if response.is_error:
                    await response.aread()
                    raise self._refused(response)
                yield response
        except httpx.TransportError as error:
            raise PeerUnavailable(peer=self.peer, reason=_reason(error)) from error

    async def _call(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: object = None,
        idempotency_key: str | None = None,
    ) -> Any:  # noqa: ANN401 - JSON
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
        safe = method in _SAFE_METHODS or idempotency_key is not None
        content = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        if content is not None:
            headers["Content-Type"] = "application/json"
        try:
            async for attempt in stamina.retry_context(
                on=_worth_another_try,
                attempts=_ATTEMPTS if safe else 1,
                timeout=_LONGEST_RETRY_SECONDS,
                wait_initial=0.2,
                wait_max=5.0,
            ):
                with attempt:
                    headers["traceparent"] = outgoing_traceparent()
                    response = await self._http.request(method, path, params=params, content=content, headers=headers)
                    if response.status_code in _TRANSIENT and not _refused_further_on(response):
                        raise _Transient(response)  # noqa: TRY301 - what `attempt` repeats on
        except _Transient as transient:
            raise self._refused(transient.response) from None
        except httpx.TransportError as error:
            raise PeerUnavailable(peer=self.peer, reason=_reason(error)) from error
        if response.is_error:
            raise self._refused(response)
        return response.json() if response.content else None

    def _refused(self, response: httpx.Response) -> PeerRefused:
        return PeerRefused(peer=self.peer, response=response)


def _fault(fault: dict[str, Any]) -> str:
    return f"{fault.get('pointer') or fault.get('parameter') or 'body'}: {fault['detail']}"


def _refused_further_on(response: httpx.Response) -> bool:
    """Whether a 502 means that a peer of the peer refused, which it would again: only a proxy's 502 is transient."""
    with contextlib.suppress(ValueError, AttributeError):  # the body is no problem document
        return response.status_code == HTTPStatus.BAD_GATEWAY and response.json().get("type") == _PEER_REFUSED
    return False


def _worth_another_try(error: Exception) -> bool | float:
    if isinstance(error, _Transient):
        wait = error.response.headers.get("Retry-After", "")
        if not wait.isdecimal():
            return True
        return int(wait) <= _LONGEST_RETRY_SECONDS and float(wait)
    return isinstance(error, httpx.TransportError)


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
