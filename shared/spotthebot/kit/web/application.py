"""Puts a service's FastAPI application together, the same way for each."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, FastAPI
from sqlalchemy import Table
from starlette.middleware.cors import CORSMiddleware

from spotthebot.kit.access.tables import LINEAGE as ACCESS
from spotthebot.kit.database import Database
from spotthebot.kit.migrations import Lineage
from spotthebot.kit.settings import ServiceSettings
from spotthebot.kit.web import operations
from spotthebot.kit.web.metrics import RequestMetrics
from spotthebot.kit.web.problems import MEDIA_TYPE, Problem, add_problem_handlers
from spotthebot.kit.web.rate_limits import RateLimiter
from spotthebot.kit.web.requests import RequestContext

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]

_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": text, "content": {MEDIA_TYPE: {}}}
    for status, text in {
        401: "The API key is missing, unknown, expired or revoked.",
        403: "The API key's role may not do this.",
        422: "The request is invalid; `errors` says where.",
        429: "Too many requests; see `Retry-After`.",
        503: "Something needed does not answer; try again.",
    }.items()
}


def build_application(
    name: str,
    *,
    summary: str,
    settings: ServiceSettings,
    routers: Sequence[APIRouter],
    lineages: Sequence[Lineage] = (),
    idempotency_table: Table | None = None,
    lifespan: Lifespan | None = None,
    large_bodies: Mapping[str, int] | None = None,
) -> FastAPI:
    """Return the application with all that services share; `lifespan` opens and closes the service's own parts.

    `large_bodies` gives patterns of how paths begin whose bodies may be larger than the settings say, and how large.
    """
    database = Database(
        settings.database_url.get_secret_value(),
        pool_size=settings.database_pool_size,
        application_name=f"spotthebot-{name}",
    )

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        try:
            if lifespan is None:
                yield
            else:
                async with lifespan(app):
                    yield
        finally:
            await database.close()

    app = FastAPI(
        title=f"Spot The Bot: {name}",
        summary=summary,
        version=version("spotthebot"),
        lifespan=live,
        redoc_url=None,
    )
    app.state.settings = settings
    app.state.database = database
    app.state.lineages = (ACCESS, *lineages)
    app.state.idempotency_table = idempotency_table
    app.state.metrics = RequestMetrics(name)
    app.state.rate_limiter = RateLimiter(settings.rate_limit_requests_per_minute)
    app.state.service_rate_limiter = RateLimiter(settings.service_rate_limit_requests_per_minute)
    for router in routers:
        app.include_router(router, responses=_PROBLEMS)
    app.include_router(operations.router)
    add_problem_handlers(app)
    app.add_middleware(
        RequestContext,
        metrics=app.state.metrics,
        max_body_bytes=settings.max_body_bytes,
        large_bodies=large_bodies or {},
    )
    # Outermost, so that a browser may read the answer to an unexpected error too.
    app.add_middleware(
        CORSMiddleware,
        allow_origins=settings.cors_origins,
        allow_methods=["*"],
        allow_headers=["*"],
        expose_headers=[
            "X-Request-Id",
            "RateLimit",
            "RateLimit-Policy",
            "Retry-After",
            "Idempotency-Replayed",
        ],
    )
    return app
