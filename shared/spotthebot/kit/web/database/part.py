"""The part that gives an application its connections to PostgreSQL."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import ClassVar

from fastapi import FastAPI, Request
from sqlalchemy import Table
from starlette.responses import Response

from spotthebot.kit.database.sessions import DATABASE_TROUBLE, Database
from spotthebot.kit.errors import Unavailable
from spotthebot.kit.migrations.lineage import Lineage
from spotthebot.kit.settings import ServiceSettings
from spotthebot.kit.telemetry.logs import get_logger
from spotthebot.kit.web.core.parts import Part
from spotthebot.kit.web.core.resources import core_of
from spotthebot.kit.web.database.readiness import DatabaseRoom, check_schemas
from spotthebot.kit.web.database.resources import DatabaseResources, RunningRequests

_log = get_logger(__name__)


class DatabaseUnavailable(Unavailable):
    """The database does not answer at the moment: try again."""


class DatabasePart(Part):
    """Sessions for endpoints (`sessions`), idempotency keys in `idempotency_table`, and readiness of the schemas."""

    exposed_headers = ("Idempotency-Replayed",)
    error_statuses: ClassVar = {503: "Something needed does not answer; try again."}

    def __init__(
        self,
        name: str,
        settings: ServiceSettings,
        *,
        lineages: Sequence[Lineage] = (),
        idempotency_table: Table | None = None,
    ) -> None:
        self.database = Database(
            settings.database_url.get_secret_value(),
            pool_size=settings.database_pool_size,
            application_name=f"spotthebot-{name}",
        )
        self._room = DatabaseRoom(self.database)
        self._lineages = lineages
        self._idempotency_table = idempotency_table
        self._idempotency_kept = timedelta(hours=settings.idempotency_key_hours)

    def mount(self, app: FastAPI) -> None:
        app.state.database = DatabaseResources(
            self.database, self._idempotency_table, self._idempotency_kept, RunningRequests()
        )
        for kind in DATABASE_TROUBLE:
            app.add_exception_handler(kind, _respond_unavailable)

    @asynccontextmanager
    async def run(self, _app: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await self.database.close()

    async def check_ready(self) -> None:
        await check_schemas(self.database, self._lineages)
        await self._room.check()


async def _respond_unavailable(request: Request, error: Exception) -> Response:
    _log.warning("database.unavailable", error=type(error).__name__)
    return core_of(request.app).error_responses.respond(request, DatabaseUnavailable(retry_after_seconds=1))
