"""An application that serves the routes of its routers without copying them.

FastAPI's `include_router` copies each route for each application at the first request, and searches the routes of
included routers twice for each request. Here a route is made once, where it is defined. Only the OpenAPI document is
made from included routers, when it is first requested.
"""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, FastAPI

Responses = Mapping[int | str, dict[str, Any]]


class Application(FastAPI):
    """A FastAPI application to which routers are added with `add_router`."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - FastAPI has many
        super().__init__(**options)
        self._described: list[tuple[APIRouter, Responses]] = []

    def add_router(self, router: APIRouter, responses: Responses | None = None) -> None:
        """Serve the routes of a router.

        In the OpenAPI document, `responses` are added to the responses of each route.
        """
        self.router.routes.extend(router.routes)
        self._described.append((router, responses or {}))

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document, which is made at the first call."""
        if self.openapi_schema is None:
            described = FastAPI(title=self.title, summary=self.summary, version=self.version)
            for router, responses in self._described:
                described.include_router(router, responses=dict(responses))
            self.openapi_schema = described.openapi()
        return self.openapi_schema
