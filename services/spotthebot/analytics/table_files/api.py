"""Answers in the format that the header `Accept` requests: JSON with everything, or one table as CSV or Parquet."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeVar
from urllib.parse import quote, urlencode

from fastapi import Depends, Request
from pydantic import BaseModel
from starlette.responses import Response, StreamingResponse

from spotthebot.analytics.table_files.domain import Table, pieces
from spotthebot.kit.exports.formats import ExportFormat
from spotthebot.kit.web.core.caching import revalidated
from spotthebot.kit.web.core.negotiation import negotiated
from spotthebot.kit.web.core.pagination import Page
from spotthebot.kit.web.core.problems import Problem

Item = TypeVar("Item", bound=BaseModel)

_JSON: Final = "application/json"
_FILES: Final = {form.media_type: form for form in (ExportFormat.CSV, ExportFormat.PARQUET)}
_BINARY: Final = {"schema": {"type": "string", "format": "binary"}}
TABLES: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "JSON with everything, or its table in the form that `Accept` asks for.",
        "content": dict.fromkeys(_FILES, _BINARY),
    },
    406: {"model": Problem, "description": "`Accept` names none of these forms."},
}
"""The OpenAPI responses of an endpoint that answers with `answer` or `answer_page`."""


FILES: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "The table in the form that `Accept` asks for.", "content": dict.fromkeys(_FILES, _BINARY)},
    406: {"model": Problem, "description": "`Accept` names none of these forms."},
}
"""What an endpoint documents whose answer is a table alone."""


@dataclass(frozen=True)
class Form:
    """The requested format of an answer: a file format, or None for JSON."""

    request: Request
    file: ExportFormat | None


async def _form(request: Request) -> Form:
    return Form(request, _FILES.get(negotiated(request, (_JSON, *_FILES))))


def file_form(request: Request) -> ExportFormat:
    """Return the format of a table that has no JSON; raises NotAcceptable."""
    return _FILES[negotiated(request, tuple(_FILES))]


TableForm = Annotated[Form, Depends(_form)]
"""The requested format; an unsupported one is refused (406) before anything is computed."""


async def answer(form: Form, name: str, body: bytes, table: Callable[[], Table]) -> Response:
    """Answer with a JSON body, or with its table as a file named `name`."""
    if form.file is None:
        response = revalidated(form.request, body, _JSON)
    else:
        content = await asyncio.to_thread(_file, form.file, table)
        response = revalidated(form.request, content, form.file.media_type)
        response.headers["Content-Disposition"] = f'attachment; filename="{name}.{form.file.suffix}"'
    response.headers["Vary"] = "Accept"
    return response


async def answer_page(form: Form, name: str, page: Page[Item], table: Callable[[list[Item]], Table]) -> Response:
    """Answer with a page of a list, or with its rows as a file. The header `Link` has the address of the next page."""
    response = await answer(form, name, page.model_dump_json().encode(), lambda: table(page.items))
    if page.next_cursor is not None:
        query = [each for each in form.request.query_params.multi_items() if each[0] != "cursor"]
        # Not `url.path`: it is decoded, and ends at a question mark in a name.
        target = f"{quote(form.request.scope['path'])}?{urlencode([*query, ('cursor', page.next_cursor)])}"
        response.headers["Link"] = f'<{target}>; rel="next"'
    return response


def stream(form: ExportFormat, name: str, table: Table) -> Response:
    """Answer with a table as a file named `name`, which is written while it is sent."""
    headers = {
        "Cache-Control": "no-store",
        "Content-Disposition": f'attachment; filename="{name}.{form.suffix}"',
        "Vary": "Accept",
    }
    return StreamingResponse(pieces(form, table), media_type=form.media_type, headers=headers)


def _file(form: ExportFormat, table: Callable[[], Table]) -> bytes:
    return b"".join(pieces(form, table()))
