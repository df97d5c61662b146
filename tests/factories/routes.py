"""The routes of an application."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import SecretStr

InOrder = Callable[[FastAPI], AbstractContextManager[None]]


@contextmanager
def reversed_parameters(app: FastAPI) -> Iterator[None]:
    """Resolve the dependencies of all endpoints in the opposite order while the block lasts."""

    def reverse(dependant: Dependant) -> None:
        dependant.dependencies.reverse()
        for each in dependant.dependencies:
            reverse(each)

    dependants = [route.dependant for route in routes_of(app)]
    for each in dependants:
        reverse(each)
    try:
        yield
    finally:
        for each in dependants:
            reverse(each)


@contextmanager
def as_written(_app: FastAPI) -> Iterator[None]:
    """Resolve them in the order of the parameters."""
    yield


IN_ANY_ORDER = pytest.mark.parametrize("in_order", [as_written, reversed_parameters], ids=["as written", "reversed"])
"""The order of an endpoint's parameters carries no meaning."""


def routes_of(app: FastAPI) -> list[APIRoute]:
    """Return the routes of an application and of all routers in it, in the order in which they are tried."""
    found: list[APIRoute] = []

    def walk(routes: Any) -> None:
        for route in routes:
            if isinstance(route, APIRoute):
                found.append(route)
            else:
                walk(getattr(getattr(route, "original_router", None) or route, "routes", []))

    walk(app.routes)
    return found


def make_app(service: Any) -> FastAPI:
    """Return the application of a service, whose database is nowhere: it has routes, and answers none that reads."""
    app: FastAPI = service.create_app(service.settings(database_url=SecretStr("postgresql://nobody@localhost/none")))
    return app
