"""Errors as pages for people, and as problem documents for the scripts of pages."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from spotthebot.kit.errors import Error
from spotthebot.kit.web.core.problems import (
    INVALID_REQUEST,
    ProblemDetails,
    ProblemField,
    fields_of,
    name_of,
    status_of,
)

ShowError = Callable[[Request, int, str, Sequence[ProblemField]], Response]
"""Makes the page of an error, given its status, a sentence that may be shown (empty where there is none) and fields."""
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
        refuse = self._page_or(app.exception_handlers[RequestValidationError])

        async def refuse_form(request: Request, error: Exception) -> Response:
            answer: Response = await refuse(request, _as_of_body(cast("ValidationError", error)))
            return answer

        app.add_exception_handler(RequestValidationError, refuse)
        app.add_exception_handler(ValidationError, refuse_form)
        app.add_exception_handler(HTTPException, self._page_or(app.exception_handlers[HTTPException]))
        app.add_exception_handler(Error, self._ours)

    def respond(self, request: Request, error: Error) -> Response:
        error = self._translate(error)
        said = self._say(request, name_of(error), error.detail)
        if wants_page(request):
            fields = [ProblemField(pointer=each.pointer, parameter=None, detail=each.detail) for each in error.fields]
            shown = "" if fields and name_of(error) == INVALID_REQUEST else said
            page = self._show(request, status_of(error), shown, fields)
            if retry_after := error.facts.get("retry_after_seconds"):
                page.headers["Retry-After"] = str(retry_after)
            return page
        return self._problems.respond(request, error, detail=said)

    def respond_unexpected(self, request: Request) -> Response:
        return self._show(request, 500, "", ()) if wants_page(request) else self._problems.respond_unexpected(request)

    async def _ours(self, request: Request, error: Exception) -> Response:
        return self.respond(request, cast("Error", error))  # what it is registered for

    def _page_or(self, document: Any) -> Callable[[Request, Exception], Any]:  # noqa: ANN401 - a handler of Starlette's
        async def handle(request: Request, error: Exception) -> Response:
            if wants_page(request):
                fields = fields_of(error) if isinstance(error, RequestValidationError) else ()
                return self._show(request, getattr(error, "status_code", 422), "", fields)
            answer: Response = await document(request, error)
            return answer

        return handle


def wants_page(request: Request) -> bool:
    """Whether a browser asks for something to show, rather than a script for data."""
    return "text/html" in request.headers.get("accept", "")


def _as_of_body(error: ValidationError) -> RequestValidationError:
    """Return what is wrong with the document that a page made of its form: clients raise errors of their own."""
    return RequestValidationError(
        [{**fault, "loc": ("body", *fault["loc"])} for fault in error.errors(include_url=False, include_input=False)]
    )
