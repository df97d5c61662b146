"""The endpoints for whoever runs the service: alive, ready, metrics."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel
from starlette.responses import Response

from spotthebot.kit.access.keys import Principal
from spotthebot.kit.database import Database
from spotthebot.kit.errors import Unavailable
from spotthebot.kit.migrations import Lineage, current_revision
from spotthebot.kit.web.authentication import allow
from spotthebot.kit.web.metrics import RequestMetrics
from spotthebot.kit.web.sessions import get_database

router = APIRouter(tags=["operations"])


class NotMigrated(Unavailable):
    """The schema {schema} is at revision {found}, this release needs {needed}: run the migrations."""


class Health(BaseModel):
    """The process answers."""

    status: str


@router.get("/healthz", operation_id="health")
async def health() -> Health:
    """Say that the process is alive; asks nothing of anything else."""
    return Health(status="ok")


@router.get("/readyz", operation_id="readiness")
async def readiness(request: Request, database: Annotated[Database, Depends(get_database)]) -> Health:
    """Say whether requests can be served: the database answers and each schema is at this release's revision."""
    lineages: Sequence[Lineage] = request.app.state.lineages
    async with database.read() as session:
        for lineage in lineages:
            found = await current_revision(session, lineage.schema)
            if found != lineage.head:
                raise NotMigrated(schema=lineage.schema, found=found or "none", needed=lineage.head)
    return Health(status="ready")


@router.get("/metrics", operation_id="metrics", response_class=Response)
async def metrics(request: Request, _caller: Annotated[Principal, Depends(allow("admin", "service"))]) -> Response:
    """Return metrics in Prometheus' text format (a scraper sends its API key as a bearer token)."""
    collected: RequestMetrics = request.app.state.metrics
    return Response(collected.render(), media_type=CONTENT_TYPE_LATEST)
