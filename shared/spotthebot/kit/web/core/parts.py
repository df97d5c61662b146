"""A part: something that can be added to an application, such as sessions on a database, or API keys."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import ClassVar

from fastapi import FastAPI

from spotthebot.kit.web.core.routers import Application


class Part:
    """The hooks of a part. A subclass overrides the hooks that it needs."""

    exposed_headers: ClassVar[tuple[str, ...]] = ()
    """Response headers of this part that scripts of other origins may read."""

    error_statuses: ClassVar[Mapping[int, str]] = {}
    """Statuses with which this part may answer any endpoint, and their descriptions in OpenAPI."""

    def mount(self, app: Application) -> None:
        """Add routes, exception handlers and state to the application, before it starts."""

    @asynccontextmanager
    async def run(self, _app: FastAPI) -> AsyncIterator[None]:
        """Keep the resources of this part open while the block runs, which is as long as the application runs."""
        yield

    async def check_ready(self) -> None:
        """Raise an error of the family Unavailable while this part can't serve requests."""
