"""The middleware around every request. It handles id, trace, log, metrics and unexpected errors.

Inner layers set two attributes of `request.state`: `caller` for the log, and `response_headers`, which are added to the
response.
"""

import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import Request
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from spotthebot.kit.ids import new_id
from spotthebot.kit.telemetry.logs import get_logger, log_request
from spotthebot.kit.telemetry.tracing import continued_trace
from spotthebot.kit.web.core.error_responses import ErrorResponses
from spotthebot.kit.web.core.metrics import RequestMetrics
from spotthebot.kit.web.core.operations import OPERATION_PATHS

_log = get_logger(__name__)
_NO_STATE: Mapping[str, Any] = {}


class RequestContext:
    """The middleware around every endpoint. It is pure ASGI, so that it costs next to nothing."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        metrics: RequestMetrics,
        error_responses: ErrorResponses,
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._error_responses = error_responses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with continued_trace(Headers(scope=scope)) as trace_id:
            await self._answer(scope, receive, send, trace_id)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, trace_id: str) -> None:
        started = time.perf_counter()
        request_id = new_id().hex
        structlog.contextvars.bind_contextvars(request_id=request_id, trace_id=trace_id)
        status = 0

        async def send_with_context(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers_out = message.setdefault("headers", [])
                headers_out.append((b"x-request-id", request_id.encode()))
                for name, value in scope.get("state", _NO_STATE).get("response_headers", _NO_STATE).items():
                    headers_out.append((name.lower().encode("latin-1"), value.encode("latin-1")))
            await send(message)

        try:
            await self._app(scope, receive, send_with_context)
        except Exception:
            _log.exception("request.failed", path=scope["path"])
            if status:
                raise
            await self._error_responses.respond_unexpected(Request(scope))(scope, receive, send_with_context)
        finally:
            self._record(scope, status, time.perf_counter() - started, request_id, trace_id)
            structlog.contextvars.unbind_contextvars("request_id", "trace_id")

    def _record(self, scope: Scope, status: int, seconds: float, request_id: str, trace_id: str) -> None:
        route = getattr(scope.get("route"), "path", "unmatched")
        self._metrics.observe(scope["method"], route, status, seconds)
        if scope["path"] in OPERATION_PATHS and status < HTTPStatus.BAD_REQUEST:  # 0: the caller left
            return
        log_request(
            method=scope["method"],
            path=scope["path"],
            status=status,
            milliseconds=round(seconds * 1000, 2),
            caller=scope.get("state", _NO_STATE).get("caller"),
            request_id=request_id,
            trace_id=trace_id,
        )
