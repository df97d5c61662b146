"""An application that serves the routes of its routers as they are.

FastAPI's `include_router` makes each route again for each application when its first request comes, and then searches
the routes of included routers twice for each request. Here a route is made once, where it is defined; only the OpenAPI
document is made of included routers, when somebody asks for it.
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
        """Serve the routes of a router; the document says that each of them may answer `responses`, too."""
        self.router.routes.extend(router.routes)
        self._described.append((router, responses or {}))

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document, made when it is first asked for."""
        if self.openapi_schema is None:
            described = FastAPI(title=self.title, summary=self.summary, version=self.version)
            for router, responses in self._described:
                described.include_router(router, responses=dict(responses))
            self.openapi_schema = described.openapi()
        return self.openapi_schema
