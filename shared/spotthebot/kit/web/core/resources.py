"""The objects on `app.state` while an application runs: `core` of every service, and the `resources` of its own."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Request

from spotthebot.kit.settings import EdgeSettings
from spotthebot.kit.waits.clock import Clock
from spotthebot.kit.web.core.bytes_under_way import BytesUnderWay
from spotthebot.kit.web.core.error_responses import ErrorResponses
from spotthebot.kit.web.core.metrics import RequestMetrics
from spotthebot.kit.web.core.parts import Part


class Readiness:
    """Checks whether the parts of an application can serve requests. Requests at the same time share one check."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = parts
        self._check: asyncio.Task[None] | None = None

    async def require(self) -> None:
        """Raise an error of the family Unavailable while a part can't serve requests."""
        if self._check is None or self._check.done():
            self._check = asyncio.create_task(self._check_parts())
        await asyncio.shield(self._check)

    async def _check_parts(self) -> None:
        for part in self._parts:
            await part.check_ready()


@dataclass(frozen=True)
class CoreResources:
    """The settings, clock, readiness, limits, error responses and metrics of one application."""

    settings: EdgeSettings
    clock: Clock
    readiness: Readiness
    bytes_under_way: BytesUnderWay
    error_responses: ErrorResponses
    metrics: RequestMetrics


def core_of(app: FastAPI) -> CoreResources:
    """Return the core resources of an application."""
    core: CoreResources = app.state.core
    return core


async def resources_of(request: Request) -> Any:  # noqa: ANN401 - each service declares the class of its resources
    """Return the service's own resources, which the lifespan of its application opened: a dependency of endpoints."""
    return request.app.state.resources
