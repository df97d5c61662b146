"""Builds the application of a service with an API: the core, a database, and callers with API keys."""

from collections.abc import Sequence

from fastapi import APIRouter, FastAPI
from sqlalchemy import Table

from spotthebot.kit.migrations.lineage import Lineage
from spotthebot.kit.settings import ServiceSettings
from spotthebot.kit.web.bearer.part import BearerPart
from spotthebot.kit.web.core.application import Lifespan, build_application
from spotthebot.kit.web.core.disk import DiskPart
from spotthebot.kit.web.core.documentation import mount_documentation
from spotthebot.kit.web.database.part import DatabasePart


def build_service(
    name: str,
    *,
    summary: str,
    settings: ServiceSettings,
    routers: Sequence[APIRouter],
    lineages: Sequence[Lineage] = (),
    idempotency_table: Table | None = None,
    lifespan: Lifespan | None = None,
) -> FastAPI:
    """Return the application of a service; `build_application` explains `lifespan`."""
    database = DatabasePart(name, settings, lineages=lineages, idempotency_table=idempotency_table)
    app = build_application(
        name,
        summary=summary,
        settings=settings,
        routers=routers,
        parts=[DiskPart(settings), database, BearerPart(settings, database.database)],
        lifespan=lifespan,
    )
    mount_documentation(app)
    return app
