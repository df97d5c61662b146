"""The endpoints for those who run a service: health, readiness, metrics; and its OpenAPI document.

Anybody may ask for them, so they cost little however often they are asked for.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Request
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel
from starlette.responses import Response

from spotthebot.kit.web.core.metrics import RequestMetrics
from spotthebot.kit.web.core.parts import Part
from spotthebot.kit.web.core.routes import CheckedRoute

_TAGS = ["operations"]
OPERATION_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})
"""Asked for by programs every few seconds: neither traced, nor logged while they succeed."""
router = APIRouter(tags=[*_TAGS], route_class=CheckedRoute)


class Health(BaseModel):
    """The process answers."""

    status: str


@router.get("/healthz", operation_id="health")
async def health() -> Health:
    """Say that the process is alive; asks nothing of anything else."""
    return Health(status="ok")


@router.get("/readyz", operation_id="readiness")
async def readiness(request: Request) -> Health:
    """Say whether requests can be served: the database answers, schemas are at this release's, disks have room."""
    state = request.app.state
    check: asyncio.Task[None] | None = getattr(state, "readiness_check", None)
    if check is None or check.done():
        check = state.readiness_check = asyncio.create_task(_check_ready(state.parts))
    await asyncio.shield(check)  # those who ask meanwhile share it
    return Health(status="ready")


async def _check_ready(parts: Sequence[Part]) -> None:
    for part in parts:
        await part.check_ready()


def mount_document(app: FastAPI) -> None:
    """Answer requests for the OpenAPI document with the same bytes each time: to write it again takes milliseconds."""
    made: list[bytes] = []

    async def document(_request: Request) -> Response:
        if not made:
            made.append(json.dumps(app.openapi(), ensure_ascii=False).encode())
        return Response(made[0], media_type="application/json")

    routes = app.router.routes
    routes[:] = [route for route in routes if getattr(route, "path", None) != app.openapi_url]
    app.add_route(str(app.openapi_url), document)


def metrics_router(guard: Callable[..., Any]) -> APIRouter:
    """Return a router with `/metrics`, for callers whom the dependency `guard` lets in."""
    guarded = APIRouter(tags=[*_TAGS], route_class=CheckedRoute, dependencies=[Depends(guard)])

    @guarded.get("/metrics", operation_id="metrics", response_class=Response)
    async def metrics(request: Request) -> Response:
        """Return metrics in Prometheus' text format (a scraper sends its API key as a bearer token)."""
        collected: RequestMetrics = request.app.state.metrics
        await collected.sources.read()
        return Response(collected.render(), media_type=CONTENT_TYPE_LATEST)

    return guarded
