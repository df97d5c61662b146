"""The part that lets an application authenticate API keys. It reads them in the schema `access`."""

from typing import ClassVar

from spotthebot.kit.access.store import Authenticator
from spotthebot.kit.access.tables import LINEAGE as ACCESS
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.settings import ServiceSettings
from spotthebot.kit.web.bearer.authentication import allow
from spotthebot.kit.web.bearer.failed_keys import FailedKeys
from spotthebot.kit.web.bearer.resources import BearerResources
from spotthebot.kit.web.core.operations import metrics_router
from spotthebot.kit.web.core.parts import Part
from spotthebot.kit.web.core.rate_limits import RateLimiter
from spotthebot.kit.web.core.routers import Application
from spotthebot.kit.web.database.readiness import check_schemas


class BearerPart(Part):
    """API keys with rate limits, for endpoints that name their roles with `allow`. Two roles may read `/metrics`."""

    exposed_headers = ("RateLimit", "RateLimit-Policy")
    error_statuses: ClassVar = {
        401: "The API key is missing, unknown, expired or revoked.",
        403: "The API key's role may not do this.",
        429: "Too many requests; see `Retry-After`.",
    }

    def __init__(self, settings: ServiceSettings, database: Database) -> None:
        self._settings = settings
        self._database = database

    def mount(self, app: Application) -> None:
        app.state.bearer = BearerResources(
            authenticator=Authenticator(self._database.statements),
            failed_keys=FailedKeys(self._settings.failed_keys_per_minute),
            limiter=RateLimiter(self._settings.rate_limit_requests_per_minute),
            frontend_limiter=RateLimiter(self._settings.frontend_rate_limit_requests_per_minute),
            service_limiter=RateLimiter(self._settings.service_rate_limit_requests_per_minute),
        )
        app.add_router(metrics_router(allow("admin", "service")))

    async def check_ready(self) -> None:
        await check_schemas(self._database, [ACCESS])
