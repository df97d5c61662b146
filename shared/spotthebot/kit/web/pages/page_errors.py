"""Errors as pages for people, and as problem documents for the scripts of pages."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from spotthebot.kit.errors import Error
from spotthebot.kit.web.core.problems import ProblemDetails, name_of, status_of

ShowError = Callable[[Request, int, str], Response]
"""Makes the page of an error, given its status and a sentence that may be shown; empty where there is none."""
Translate = Callable[[Error], Error]
Say = Callable[[Request, str, str], str]
"""Returns what a visitor reads, in their language, for the name of a problem and its own sentence."""


class PageErrors:
    """Answers a person with a page, and a script, which asks for JSON, with a problem document."""

    def __init__(self, show: ShowError, translate: Translate, say: Say) -> None:
        """Take what makes a page, what an error of ours is shown as, and what says it."""
        self._show = show
        self._translate = translate
        self._say = say
        self._problems = ProblemDetails()

    def document(self, descriptions: Mapping[int, str]) -> dict[int | str, dict[str, Any]]:
        return self._problems.document(descriptions)

    def mount(self, app: FastAPI) -> None:
        self._problems.mount(app)
        for kind in (RequestValidationError, HTTPException):
            app.add_exception_handler(kind, self._page_or(app.exception_handlers[kind]))
        app.add_exception_handler(Error, self._ours)

    def respond(self, request: Request, error: Error) -> Response:
        error = self._translate(error)
        said = self._say(request, name_of(error), error.detail)
        if wants_page(request):
            page = self._show(request, status_of(error), said)
            if retry_after := error.facts.get("retry_after_seconds"):
                page.headers["Retry-After"] = str(retry_after)
            return page
        return self._problems.respond(request, error, detail=said)

    def respond_unexpected(self, request: Request) -> Response:
        return self._show(request, 500, "") if wants_page(request) else self._problems.respond_unexpected(request)

    async def _ours(self, request: Request, error: Exception) -> Response:
        return self.respond(request, cast("Error", error))  # what it is registered for

    def _page_or(self, document: Any) -> Callable[[Request, Exception], Any]:  # noqa: ANN401 - a handler of Starlette's
        async def handle(request: Request, error: Exception) -> Response:
            if wants_page(request):
                return self._show(request, getattr(error, "status_code", 422), "")
            answer: Response = await document(request, error)
            return answer

        return handle


def wants_page(request: Request) -> bool:
    """Whether a browser asks for something to show, rather than a script for data."""
    return "text/html" in request.headers.get("accept", "")
