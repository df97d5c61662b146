"""Parts of pages that scripts fetch, and fetch again."""

from fastapi import Request
from markupsafe import Markup
from starlette.responses import Response

from spotthebot.kit.web.core.caching import revalidated


def fragment(request: Request, html: Markup) -> Response:
    """Answer with a part of a page, or with 304 where the script names it as the one that it shows.

    The script keeps the ETag, and the browser nothing: after somebody signed out, no cache has what they saw.
    """
    response = revalidated(request, html.encode(), "text/html; charset=utf-8")
    response.headers["Cache-Control"] = "no-store"
    response.headers["Vary"] = "Cookie, Accept-Language"
    return response
