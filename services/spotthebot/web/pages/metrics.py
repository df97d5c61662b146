"""`/metrics` of the pages, for the API keys that may read those of the other services."""

from functools import partial
from hashlib import sha256
from typing import Final

from fastapi import Request
from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase

from spotthebot.contracts.access import Role
from spotthebot.kit.errors import Forbidden, Unauthenticated
from spotthebot.kit.waits.memo import Memo
from spotthebot.kit.web.core.operations import metrics_router
from spotthebot.web.clients import services_with
from spotthebot.web.settings import WebSettings

_LONGEST_KEY: Final = 200
_REMEMBERED_SECONDS: Final = 60.0
_MAX_REMEMBERED: Final = 100
_PATIENCE_SECONDS: Final = 5.0


class NoKeyForMetrics(Forbidden):
    """Metrics are for API keys with the roles admin and service."""

    title = "Not for this key"


class MetricsReader(SecurityBase):
    """A dependency that lets in bearers of a key with which `bots`, which knows the keys, shows its own metrics.

    A key that was let in is let in for another minute without a question, also while `bots` does not answer.
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
        await self._admitted.get(sha256(key.encode()).digest(), partial(self._ask, request.app.state.settings, key))

    async def _ask(self, settings: WebSettings, key: str) -> None:
        async with services_with(settings, key, timeout_seconds=_PATIENCE_SECONDS) as services:
            await (await services.bots()).metrics()


router = metrics_router(MetricsReader())
