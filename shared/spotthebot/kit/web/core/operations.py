"""The endpoints for the operators of a service: health, readiness, metrics, and the OpenAPI document.

Everybody may call them, so they stay cheap even if they are called often.
"""

import json
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Request
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel
from starlette.responses import Response

from spotthebot.kit.web.core.resources import core_of
from spotthebot.kit.web.core.routes import CheckedRoute

_TAGS = ["operations"]
OPERATION_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})
"""Paths that programs request every few seconds: not traced, and logged only if they fail."""
router = APIRouter(tags=[*_TAGS], route_class=CheckedRoute)


class Health(BaseModel):
    """The answer of a process that is alive."""

    status: str


@router.get("/healthz", operation_id="health")
async def health() -> Health:
    """Return that the process is alive; checks nothing else."""
    return Health(status="ok")


@router.get("/readyz", operation_id="readiness")
async def readiness(request: Request) -> Health:
    """Return an answer if requests can be served.

    The database must answer, its schemas must suit this release, and the disks must have room.
    """
    await core_of(request.app).readiness.require()
    return Health(status="ready")


def mount_document(app: FastAPI) -> None:
    """Serve the OpenAPI document. It is made once, since this takes milliseconds; every answer has the same bytes."""
    made: list[bytes] = []

    async def document(_request: Request) -> Response:
        if not made:
            made.append(json.dumps(app.openapi(), ensure_ascii=False).encode())
        return Response(made[0], media_type="application/json")

    routes = app.router.routes
    routes[:] = [route for route in routes if getattr(route, "path", None) != app.openapi_url]
    app.add_route(str(app.openapi_url), document)


def metrics_router(guard: Callable[..., Any]) -> APIRouter:
    """Return a router with `/metrics`. The dependency `guard` decides which callers are admitted."""
    guarded = APIRouter(tags=[*_TAGS], route_class=CheckedRoute, dependencies=[Depends(guard)])

    @guarded.get("/metrics", operation_id="metrics", response_class=Response)
    async def metrics(request: Request) -> Response:
        """Return metrics in Prometheus' text format. A scraper sends its API key as a bearer token."""
        collected = core_of(request.app).metrics
        await collected.sources.read()
        return Response(collected.render(), media_type=CONTENT_TYPE_LATEST)

    return guarded
