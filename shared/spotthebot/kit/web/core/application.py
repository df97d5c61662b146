"""Builds an application: a core that all applications share, and the given parts."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from importlib.metadata import version

from fastapi import APIRouter, FastAPI
from starlette.middleware.cors import CORSMiddleware

from spotthebot.kit.settings import EdgeSettings
from spotthebot.kit.waits.clock import system_clock
from spotthebot.kit.web.core import operations
from spotthebot.kit.web.core.bytes_under_way import BytesUnderWay
from spotthebot.kit.web.core.error_responses import ErrorResponses
from spotthebot.kit.web.core.metrics import RequestMetrics
from spotthebot.kit.web.core.parts import Part
from spotthebot.kit.web.core.problems import ProblemDetails
from spotthebot.kit.web.core.requests import RequestContext
from spotthebot.kit.web.core.resources import CoreResources, Readiness
from spotthebot.kit.web.core.routers import Application

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]
_ERROR_STATUSES = {
    404: "Something that the path names is not there, or is not the caller's.",
    409: "The request does not fit the present state: the last part of `type` says why.",
    413: "The body holds more bytes than this takes (`x-max-body-bytes`; 1 MiB unless declared).",
    422: "The request is invalid, or has a query parameter that is not known; `errors` says where.",
}
_EXPOSED_HEADERS = ("X-Request-Id", "Retry-After")


def build_application(
    name: str,
    *,
    summary: str,
    settings: EdgeSettings,
    routers: Sequence[APIRouter],
    parts: Sequence[Part] = (),
    error_responses: ErrorResponses | None = None,
    lifespan: Lifespan | None = None,
) -> FastAPI:
    """Return an application with the core and the given parts. `lifespan` opens and closes the service's own objects.

    Parts start in their order, before `lifespan`, and stop in reverse order. Errors are answered as problem documents,
    unless `error_responses` has another form. The route class of each router must be `CheckedRoute` or a subclass.
    """
    error_responses = error_responses or ProblemDetails()

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for part in parts:
                await stack.enter_async_context(part.run(app))
            if lifespan is not None:
                await stack.enter_async_context(lifespan(app))
            yield

    app = Application(
        title=f"Spot The Bot: {name}",
        summary=summary,
        version=version("spotthebot"),
        lifespan=running,
        docs_url=None,
        redoc_url=None,
        telemetry={
            "auto_configure": False,
            "exclude": lambda scope: scope.get("path") in operations.OPERATION_PATHS,
            "logs": False,
            "metrics": False,
            "operation_spans": False,
        },
    )
    metrics = RequestMetrics(name)
    app.state.core = CoreResources(
        settings=settings,
        clock=system_clock,
        readiness=Readiness(parts),
        bytes_under_way=BytesUnderWay(
            in_all=settings.max_json_bytes_under_way, by_caller=settings.max_json_bytes_under_way_per_caller
        ),
        error_responses=error_responses,
        metrics=metrics,
    )
    statuses = _ERROR_STATUSES | {status: text for part in parts for status, text in part.error_statuses.items()}
    documented = error_responses.document(statuses)
    for router in routers:
        app.add_router(router, documented)
    app.add_router(operations.router)
    operations.mount_document(app)
    error_responses.mount(app)
    for part in parts:
        part.mount(app)
    app.add_middleware(RequestContext, metrics=metrics, error_responses=error_responses)
    # Outermost, so that a browser may read the answer to an unexpected error too.
    app.add_middleware(
        CORSMiddleware,
        allow_origins=settings.cors_origins,
        allow_methods=["*"],
        allow_headers=["*"],
        expose_headers=[*_EXPOSED_HEADERS, *(name for part in parts for name in part.exposed_headers)],
    )
    return app
