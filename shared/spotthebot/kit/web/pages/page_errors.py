"""Shows errors as pages to people, and as problem documents to the scripts of pages."""

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
"""Makes the page of an error from its status, a sentence to show (or an empty text), and its fields."""
Translate = Callable[[Error], Error]
Say = Callable[[Request, str, str], str]
"""Returns the text for a visitor, in their language, given a problem's name and its own sentence."""


class PageErrors:
    """Answers errors: a person gets a page, and a script, which accepts JSON, gets a problem document."""

    def __init__(self, show: ShowError, translate: Translate, say: Say) -> None:
        """Set three functions: `show` makes a page, `translate` translates one of our errors, `say` finds its text."""
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
    """Return whether a browser requests a page to show. A script requests data instead."""
    return "text/html" in request.headers.get("accept", "")


def _as_of_body(error: ValidationError) -> RequestValidationError:
    """Return the faults of a document that a page made from its form, as if they were faults of the request's body.

    Clients raise errors of their own types.
    """
    return RequestValidationError(
        [{**fault, "loc": ("body", *fault["loc"])} for fault in error.errors(include_url=False, include_input=False)]
    )
