"""An application that serves the routes of its routers without copying them.

FastAPI's `include_router` copies each route for each application at the first request, and searches the routes of
included routers twice for each request. Here a route is made once, where it is defined. Only the OpenAPI document is
made from included routers, when it is first requested.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from fastapi import APIRouter, FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from spotthebot.kit.web.core.problems import MEDIA_TYPE

Responses = Mapping[int | str, dict[str, Any]]
ROLES: Final = "x-roles"
"""The extension of an operation in the OpenAPI document that names the roles whose keys it admits."""


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
            for router, _ in self._described:
                self._name_roles(router, self.openapi_schema["paths"])
            self._leave_out_impossible(self.openapi_schema["paths"])
            for answer in _answers(self.openapi_schema):
                # FastAPI describes a problem under the media type that the route's answers have.
                if MEDIA_TYPE in (content := answer.get("content", {})):
                    answer["content"] = {MEDIA_TYPE: next(filter(None, content.values()))}
        return self.openapi_schema

    def _leave_out_impossible(self, paths: dict[str, Any]) -> None:
        """Take the common 404 from operations whose path names nothing, and 409 too from those that only read."""
        common = {str(status): answer for _, responses in self._described for status, answer in responses.items()}
        for path, operations in paths.items():
            for method, operation in operations.items() if "{" not in path else ():
                answers = operation["responses"]
                for status in ("404", "409") if method == "get" else ("404",):
                    if answers.get(status, {}).get("description") == common.get(status, {}).get("description"):
                        answers.pop(status, None)

    def _name_roles(self, router: APIRouter, paths: dict[str, Any]) -> None:
        for route in router.routes:
            if isinstance(route, APIRoute) and (admitted := [*_roles_admitted(route.dependant)]):
                for method in route.methods or ():
                    if operation := paths.get(route.path_format, {}).get(method.lower()):
                        operation[ROLES] = sorted(frozenset.intersection(*admitted))


def _roles_admitted(dependant: Dependant) -> Iterator[frozenset[str]]:
    """Yield the roles of every dependency that admits API keys."""
    for each in dependant.dependencies:
        if isinstance(roles := getattr(each.call, "roles", None), frozenset):
            yield roles
        yield from _roles_admitted(each)


def _answers(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for operations in document["paths"].values():
        for operation in operations.values():
            yield from operation["responses"].values()
