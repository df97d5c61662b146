"""Reads the form of a request, and answers scripts that load a part of a page again."""

from fastapi import Request
from markupsafe import Markup
from starlette.responses import Response

from spotthebot.kit.web.core.caching import revalidated


async def typed_in(request: Request) -> dict[str, str]:
    """Return the texts of a request's form. Uploaded files are left out."""
    async with request.form() as form:
        return {name: value for name, value in form.items() if isinstance(value, str)}


def fragment(request: Request, html: Markup) -> Response:
    """Answer with a part of a page, or with 304 if the script already shows the same part.

    The script keeps the ETag. The browser caches nothing, so that no page can be read from a cache after sign-out.
    """
    response = revalidated(request, html.encode(), "text/html; charset=utf-8")
    response.headers["Cache-Control"] = "no-store"
    response.headers["Vary"] = "Cookie, Accept-Language"
    return response
