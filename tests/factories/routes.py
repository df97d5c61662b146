"""The routes of an application."""

from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from pydantic import SecretStr


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
