"""Errors as RFC 9457 problem details. The family of an error decides the HTTP status."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from spotthebot.kit import errors
from spotthebot.kit.telemetry.logs import get_logger
from spotthebot.kit.text.validation import reason_of

MEDIA_TYPE = "application/problem+json"
INVALID_REQUEST = "invalid-request"
"""The name of a problem that `errors` explains completely."""

_STATUS: dict[type[errors.Error], int] = {
    errors.Invalid: 422,
    errors.Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.TooMany: 429,
    errors.UpstreamFailed: 502,
    errors.Unavailable: 503,
}
_HTTP_TITLES = {
    400: ("The request body is not JSON", "malformed-json"),
    404: ("Not found", "not-found"),
    405: ("Method not allowed", "method-not-allowed"),
    406: ("Not acceptable", "not-acceptable"),
    413: ("Request body too large", "body-too-large"),
}
_log = get_logger(__name__)


_MAX_ERRORS = 20
_LONGEST_DETAIL = 300
_LONGEST_POINTER = 200


class ProblemField(BaseModel):
    """The place and the text of a fault.

    The place is a `pointer` into the body (RFC 6901), or the name of a `parameter`.
    """

    pointer: str | None = Field(description="JSON pointer into the request body.")
    parameter: str | None = Field(description="Name of the query, path or header parameter.")
    detail: str


class Problem(BaseModel):
    """RFC 9457 problem details."""

    type: str = Field(examples=["urn:spotthebot:problem:not-found"])
    title: str
    status: int
    detail: str
    instance: str = Field(description="The path that was asked for.")
    errors: list[ProblemField] = Field(
        max_length=_MAX_ERRORS, description="The first faults by field; empty where there are none."
    )
    further_errors: int = Field(description="How many more faults there are than `errors` holds.")


def problem(request: Request, status: int, slug: str, title: str, detail: str, **more: Any) -> Response:  # noqa: ANN401 - the fields of errors and headers
    """Return the problem as a response. `more` may contain `errors` (ProblemFields), `further_errors` and `headers`."""
    body = Problem(
        type=f"urn:spotthebot:problem:{slug}",
        title=title,
        status=status,
        detail=detail,
        instance=request.url.path,
        errors=more.get("errors", []),
        further_errors=more.get("further_errors", 0),
    )
    return JSONResponse(body.model_dump(), status_code=status, media_type=MEDIA_TYPE, headers=more.get("headers", {}))


def problem_of(error: errors.Error, instance: str) -> Problem:
    """Return an error as a problem. `instance` is the path of the request that it answers."""
    shown = error.fields[:_MAX_ERRORS]
    fields = [ProblemField(pointer=f.pointer, parameter=None, detail=f.detail) for f in shown]
    return Problem(
        type=f"urn:spotthebot:problem:{name_of(error)}",
        title=error.title,
        status=status_of(error),
        detail=error.detail,
        instance=instance,
        errors=fields,
        further_errors=len(error.fields) - len(shown),
    )


class ProblemDetails:
    """Answers every error with a problem document: our own errors, the framework's, and unexpected errors."""

    def document(self, descriptions: Mapping[int, str]) -> dict[int | str, dict[str, Any]]:
        return {
            status: {"model": Problem, "description": description, "content": {MEDIA_TYPE: {}}}
            for status, description in descriptions.items()
        }

    def mount(self, app: FastAPI) -> None:
        app.add_exception_handler(errors.Error, self._ours)
        app.add_exception_handler(RequestValidationError, _validation)
        app.add_exception_handler(HTTPException, _framework)

    def respond(self, request: Request, error: errors.Error, *, detail: str | None = None) -> Response:
        """Answer with an error. `detail` replaces the error's own text, for example by a text in another language."""
        status = status_of(error)
        if isinstance(error, errors.UpstreamFailed):
            _log.warning("upstream.failed", error=str(error))
        headers = {}
        if status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        if retry_after := error.facts.get("retry_after_seconds"):
            headers["Retry-After"] = str(retry_after)
        body = problem_of(error, request.url.path)
        said = body if detail is None else body.model_copy(update={"detail": detail})
        return JSONResponse(said.model_dump(), status_code=status, media_type=MEDIA_TYPE, headers=headers)

    def respond_unexpected(self, request: Request) -> Response:
        detail = "Something went wrong on our side; it was logged with this request's id."
        return problem(request, 500, "internal-error", "Internal error", detail)

    async def _ours(self, request: Request, error: Exception) -> Response:
        return self.respond(request, cast("errors.Error", error))  # what it is registered for


def status_of(error: errors.Error) -> int:
    """Return the HTTP status of an error, which depends on its family."""
    return next((_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS), 500)


def name_of(error: errors.Error) -> str:
    """Return the name of an error, such as `assignment-expired`. The `type` of its problem ends with this name."""
    return _slug(error.problem_name or type(error).__name__)


def fields_of(refused: RequestValidationError) -> list[ProblemField]:
    """Return the first faults of a refused request, each with its place."""
    return [_field(fault, refused.body) for fault in _faults_of(refused)[:_MAX_ERRORS]]


def _faults_of(refused: RequestValidationError) -> list[Mapping[str, Any]]:
    # A body that both an endpoint and one of its dependencies name is validated twice.
    return list({(fault["loc"], fault["msg"]): fault for fault in refused.errors()}.values())


async def _validation(request: Request, error: Exception) -> Response:
    refused = cast("RequestValidationError", error)  # what it is registered for
    faults = _faults_of(refused)
    if (fault := next((fault for fault in faults if fault["type"] == "json_invalid"), None)) is not None:
        reason = fault.get("ctx", {}).get("error", fault["msg"])
        title, slug = _HTTP_TITLES[400]
        return problem(request, 400, slug, title, f"{title}: {reason} at byte {fault['loc'][-1]}.")
    fields = fields_of(refused)
    further = len(faults) - len(fields)
    where = ", ".join(sorted({field.pointer or field.parameter or "the body" for field in fields}))
    detail = f"See `errors`: {where}{f', and {further} more' if further else ''}."
    return problem(request, 422, INVALID_REQUEST, "Invalid request", detail, errors=fields, further_errors=further)


async def _framework(request: Request, error: Exception) -> Response:
    refused = cast("HTTPException", error)  # what it is registered for
    if refused.status_code == 400:  # FastAPI could not decode the body
        title, slug = _HTTP_TITLES[400]
        return problem(request, 400, slug, title, f"{title}: is it UTF-8 JSON?")
    title, slug = _HTTP_TITLES.get(refused.status_code, (str(refused.detail), "http-error"))
    return problem(request, refused.status_code, slug, title, f"{refused.detail}.", headers=refused.headers)


def _field(fault: Mapping[str, Any], body: object) -> ProblemField:
    place, *path = fault["loc"]
    detail = _shortened(reason_of(fault), _LONGEST_DETAIL)
    if place == "body":
        pointer = _shortened(_pointer(fault, path, body), _LONGEST_POINTER)
        return ProblemField(pointer=pointer, parameter=None, detail=detail)
    parameter = _shortened(str(path[0]) if path else str(place), _LONGEST_POINTER)
    return ProblemField(pointer=None, parameter=parameter, detail=detail)


def _shortened(text: str, longest: int) -> str:
    """Shorten a name or a value of the caller, so that it does not fill the answer."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def _pointer(fault: Mapping[str, Any], path: Sequence[int | str], body: Any) -> str:  # noqa: ANN401 - JSON
    """Return a JSON pointer to a fault.

    It has only parts that exist in the body: pydantic adds the names of union members.

    If there is no body, all parts are used. A document that a page made from its form has no body.
    """
    parts: list[str] = []
    is_known = body is not None
    for number, part in enumerate(path, 1):
        try:
            body = body[part]
        except (LookupError, TypeError):
            if is_known and (fault["type"] != "missing" or number < len(path)):
                continue
        parts.append(str(part).replace("~", "~0").replace("/", "~1"))
    return "".join(f"/{part}" for part in parts)


def _slug(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
