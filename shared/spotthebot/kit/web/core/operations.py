"""The endpoints for those who run a service: health, readiness, metrics."""

from collections.abc import Callable, Sequence
from typing import Any

from fastapi import APIRouter, Depends, Request
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel
from starlette.responses import Response

from spotthebot.kit.web.core.metrics import RequestMetrics
from spotthebot.kit.web.core.parts import Part
from spotthebot.kit.web.core.routes import CheckedRoute

_TAGS = ["operations"]
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
    parts: Sequence[Part] = request.app.state.parts
    for part in parts:
        await part.check_ready()
    return Health(status="ready")


def metrics_router(guard: Callable[..., Any]) -> APIRouter:
    """Return a router with `/metrics`, for callers whom the dependency `guard` lets in."""
    guarded = APIRouter(tags=[*_TAGS], route_class=CheckedRoute, dependencies=[Depends(guard)])

    @guarded.get("/metrics", operation_id="metrics", response_class=Response)
    async def metrics(request: Request) -> Response:
        """Return metrics in Prometheus' text format (a scraper sends its API key as a bearer token)."""
        collected: RequestMetrics = request.app.state.metrics
        return Response(collected.render(), media_type=CONTENT_TYPE_LATEST)

    return guarded
