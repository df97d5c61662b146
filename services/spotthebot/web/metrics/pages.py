"""`/metrics` of the service `web`. Keys that may read the metrics of the other services may also read these."""

from functools import partial
from hashlib import sha256
from typing import Final

from fastapi import Request
from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase

from spotthebot.contracts.access import Role
from spotthebot.kit.errors import Unauthenticated
from spotthebot.kit.waits.memo import Memo
from spotthebot.kit.web.core.operations import metrics_router
from spotthebot.web.clients import services_with
from spotthebot.web.metrics.errors import NoKeyForMetrics
from spotthebot.web.resources import resources_of
from spotthebot.web.settings import WebSettings

_LONGEST_KEY: Final = 200
_REMEMBERED_SECONDS: Final = 60.0
_MAX_REMEMBERED: Final = 100
_PATIENCE_SECONDS: Final = 5.0


class MetricsReader(SecurityBase):
    """A dependency that admits requests with a key that may read metrics.

    The service `bots` knows all keys, so this dependency asks for the metrics of `bots` with the key. An admitted key
    is remembered for a minute, even while `bots` does not answer.
    """

    def __init__(self) -> None:
        self.model = HTTPBearer(description="Made by `./stb keys create`.")
        self.scheme_name = "API key"
        self._admitted = Memo[bytes, None](seconds=_REMEMBERED_SECONDS, max_kept=_MAX_REMEMBERED)

    async def __call__(self, request: Request) -> None:
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not key or len(key) > _LONGEST_KEY or not key.isascii():
            raise Unauthenticated
        if not key.startswith((f"stb_{Role.ADMIN}_", f"stb_{Role.SERVICE}_")):
            raise NoKeyForMetrics
        await self._admitted.get(sha256(key.encode()).digest(), partial(self._ask, resources_of(request).settings, key))

    async def _ask(self, settings: WebSettings, key: str) -> None:
        async with services_with(settings, key, timeout_seconds=_PATIENCE_SECONDS) as services:
            await (await services.bots()).metrics()


router = metrics_router(MetricsReader())
