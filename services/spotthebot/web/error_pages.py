"""Error pages: what happened, which data are safe, and what the visitor can do."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final
from urllib.parse import quote

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from spotthebot.clients import PeerRefused
from spotthebot.contracts.annotation.panels import ENTRY_PARAMETER
from spotthebot.kit.errors import Conflict, Error, FieldError, Forbidden, Invalid, NotFound, TooMany, Unauthenticated
from spotthebot.kit.web.core.problems import ProblemField
from spotthebot.web.catalogues import Texts
from spotthebot.web.rendering import Renderer

_KNOWN: Final = frozenset({401, 403, 404, 409, 413, 422, 429, 500, 502, 503})
_PAGES_OF_ANNOTATORS: Final = ("/annotate/", "/chat/")
_KINDS_OF_LINKS: Final = frozenset({"400", "403", "404", "422"})
"""Errors after which an annotator opens the link again."""
_PANEL_PARAMETERS: Final = "/parameters/"
_PROBLEM: Final = "urn:spotthebot:problem:"
_LABELS: Final = {name: f"admin.links.{name}" for name in ("expires_in_hours", "max_annotators", "people")} | {
    name: f"errors.fields.{name}"
    for name in (
        *("note", "unit", "filter", "confidence", "campaign_id", "collection_id", "conversation_id", "annotator_id"),
        *("assignment_id", "bot_id"),
    )
}
"""The names of the labels of form fields and of parameters."""


class _Refused(Error):
    """A service refused, and said why."""

    def __init__(self, refused: PeerRefused) -> None:
        problem = refused.problem
        named = [FieldError(each.pointer or f"?{each.parameter}", each.detail) for each in problem.errors]
        super().__init__(fields=tuple(named), retry_after_seconds=refused.retry_after_seconds)
        self.title = problem.title
        self.problem_name = problem.type.removeprefix(_PROBLEM)
        self._detail = problem.detail

    @property
    def detail(self) -> str:
        return self._detail


class _RefusedInvalid(_Refused, Invalid):
    """The request contradicts itself or the rules."""


class _RefusedUnauthenticated(_Refused, Unauthenticated):
    """The key is not valid any more."""


class _RefusedForbidden(_Refused, Forbidden):
    """The key may not do this."""


class _RefusedNotFound(_Refused, NotFound):
    """There is no such thing, or none that the key may see."""


class _RefusedConflict(_Refused, Conflict):
    """The right request in the wrong state."""


class _RefusedTooMany(_Refused, TooMany):
    """Too many requests with this key: try again in {retry_after_seconds} s."""


_FAMILIES: Final[Mapping[int, type[_Refused]]] = {
    400: _RefusedInvalid,
    401: _RefusedUnauthenticated,
    403: _RefusedForbidden,
    404: _RefusedNotFound,
    409: _RefusedConflict,
    413: _RefusedInvalid,
    422: _RefusedInvalid,
    429: _RefusedTooMany,
}


def passed_on(error: Error) -> Error:
    """Return a service's refusal as our own error: its message is for the visitor, whose key made the request."""
    if not isinstance(error, PeerRefused) or error.status not in _FAMILIES:
        return error
    return _FAMILIES[error.status](error)


def said_by(renderer: Renderer) -> Callable[[Request, str, str], str]:
    """Return a function that translates the sentence of a problem to the visitor's language.

    If the catalogue has no text for the problem, the function returns the service's sentence.
    """

    def say(request: Request, name: str, sentence: str) -> str:
        return renderer.texts_for(request).of_service("problems", name, sentence)

    return say


def error_page(renderer: Renderer) -> Callable[[Request, int, str, Sequence[ProblemField]], Response]:
    """Return a function that makes the page of an error. A visitor without a key is redirected to the sign-in page."""

    def show(request: Request, status: int, detail: str, fields: Sequence[ProblemField]) -> Response:
        for_annotator = request.url.path.startswith(_PAGES_OF_ANNOTATORS)
        if status == 401 and request.method == "GET" and not for_annotator:
            after = request.url.path + (f"?{request.url.query}" if request.url.query else "")
            return RedirectResponse(f"/sign-in?after={quote(after, safe='/')}", status_code=303)
        kind = str(status) if status in _KNOWN else "400" if status < 500 else "500"
        by_link = for_annotator and request.method == "GET" and kind in _KINDS_OF_LINKS
        named = [each for each in fields if not by_link or _is_of_panel(each.pointer or "")]
        return renderer.page(
            request,
            "layout/error.html.jinja",
            status=status,
            kind=kind,
            detail=detail,
            fields=[(_label(renderer.texts_for(request), each), each.detail) for each in named],
            by_link=by_link,
            for_annotator=for_annotator,
            by_address=request.method == "GET",
        )

    return show


def _is_of_panel(pointer: str) -> bool:
    return pointer.startswith(_PANEL_PARAMETERS) and pointer != f"{_PANEL_PARAMETERS}{ENTRY_PARAMETER}"


def _label(texts: Texts, field: ProblemField) -> str:
    """Return the label of a form field or of a parameter; the field's own name if it has no label."""
    name = field.parameter or (field.pointer or "").removeprefix(_PANEL_PARAMETERS).lstrip("/?")
    label = _LABELS.get(name.partition("/")[0])
    return texts(label) if label else name
