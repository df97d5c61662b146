"""The middleware around every request: id, trace, log, metrics, limits on the body, unexpected errors.

Inner layers leave two entries in `request.state`: `caller`, for the log, and `response_headers`, for every response.
"""

import re
import time
from collections.abc import Mapping

import structlog
from fastapi import Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from spotthebot.kit.ids import new_id
from spotthebot.kit.logs import get_logger
from spotthebot.kit.tracing import continue_trace
from spotthebot.kit.web.core.error_responses import ErrorResponses
from spotthebot.kit.web.core.metrics import RequestMetrics

_log = get_logger(__name__)
_EMPTY: Message = {"type": "http.request", "body": b"", "more_body": False}


class RequestContext:
    """The middleware around every endpoint (pure ASGI, so that it costs next to nothing)."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        metrics: RequestMetrics,
        error_responses: ErrorResponses,
        max_body_bytes: int,
        large_bodies: Mapping[str, int],
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._error_responses = error_responses
        self._max_body_bytes = max_body_bytes
        self._large_bodies = large_bodies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        headers = Headers(scope=scope)
        trace = continue_trace(headers.get("traceparent"))
        request_id = new_id().hex
        structlog.contextvars.bind_contextvars(request_id=request_id, trace_id=trace.trace_id)
        status = 0

        async def send_with_context(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                out = MutableHeaders(scope=message)
                out["X-Request-Id"] = request_id
                for name, value in scope.get("state", {}).get("response_headers", {}).items():
                    out[name] = value
            await send(message)

        try:
            await self._app(scope, self._limited(self._largest_body(scope), headers, receive), send_with_context)
        except Exception:
            _log.exception("request.failed", path=scope["path"])
            if status:
                raise
            await self._error_responses.respond_unexpected(Request(scope))(scope, receive, send_with_context)
        finally:
            self._record(scope, status, time.perf_counter() - started)
            structlog.contextvars.unbind_contextvars("request_id", "trace_id")

    def _largest_body(self, scope: Scope) -> int:
        large = (size for pattern, size in self._large_bodies.items() if re.match(pattern, scope["path"]))
        return max(self._max_body_bytes, *large, 0)

    def _limited(self, largest: int, headers: Headers, receive: Receive) -> Receive:
        length = headers.get("content-length", "0")
        announced = int(length) if length.isdigit() else 0
        read = 0

        async def limited() -> Message:
            nonlocal read
            message = await receive() if announced <= largest else _EMPTY
            read += len(message.get("body", b""))
            if max(read, announced) > largest:
                detail = f"The request body may hold {largest} bytes at most: send it in parts"
                raise HTTPException(413, detail)
            return message

        return limited

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "unmatched")
        self._metrics.observe(scope["method"], route, status, seconds)
        _log.info(
            "request",
            method=scope["method"],
            path=scope["path"],
            status=status,
            milliseconds=round(seconds * 1000, 2),
            caller=scope.get("state", {}).get("caller"),
        )
