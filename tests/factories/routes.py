"""The routes of an application."""

from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute


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
