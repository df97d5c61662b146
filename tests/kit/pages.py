"""A tiny application of pages on kit's core alone, with a part and error pages of its own."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse
from starlette.exceptions import HTTPException
from starlette.responses import Response

from spotthebot.kit.errors import Conflict, Error, Unavailable
from spotthebot.kit.settings import EdgeSettings
from spotthebot.kit.web.core.application import build_application
from spotthebot.kit.web.core.parts import Part
from spotthebot.kit.web.core.routes import CheckedRoute

router = APIRouter(default_response_class=HTMLResponse, route_class=CheckedRoute)


class NotWarm(Unavailable):
    """The templates are not loaded yet."""


@router.get("/")
async def home(request: Request) -> str:
    request.state.response_headers = {"Content-Security-Policy": "default-src 'self'"}
    return f"<h1>Welcome to {request.app.state.theme}</h1>"


@router.get("/failing/{kind}")
async def fail(kind: str) -> str:
    if kind == "unexpected":
        message = "hunter2"
        raise RuntimeError(message)
    raise Conflict


class ErrorPages:
    """Answers errors as HTML."""

    def document(self, _descriptions: Mapping[int, str]) -> dict[int | str, dict[str, Any]]:
        return {}

    def mount(self, app: FastAPI) -> None:
        app.add_exception_handler(Error, self._ours)
        app.add_exception_handler(HTTPException, self._framework)

    def respond(self, _request: Request, error: Error) -> Response:
        return _page(503 if isinstance(error, Unavailable) else 409, error.detail)

    def respond_unexpected(self, _request: Request) -> Response:
        return _page(500, "Something went wrong")

    async def _ours(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, Error)
        return self.respond(request, error)

    async def _framework(self, _request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return _page(error.status_code, error.detail)


class Theme(Part):
    """Open while the application runs, as sessions and templates would be."""

    exposed_headers = ("X-Theme",)

    def __init__(self) -> None:
        self.warm = True

    def mount(self, app: FastAPI) -> None:
        app.state.theme = "nothing yet"

    @asynccontextmanager
    async def run(self, app: FastAPI) -> AsyncIterator[None]:
        app.state.theme = "the zoo"
        yield
        app.state.theme = "nothing any more"

    async def check_ready(self) -> None:
        if not self.warm:
            raise NotWarm


def build_pages(theme: Part | None = None) -> FastAPI:
    return build_application(
        "pages",
        summary="Pages.",
        settings=EdgeSettings(cors_origins=("https://frontend.example",)),
        routers=[router],
        parts=[theme or Theme()],
        error_responses=ErrorPages(),
    )


def _page(status: int, text: str) -> Response:
    return HTMLResponse(f"<h1>{text}</h1>", status)
