"""The page `/docs`: Swagger UI for the service's OpenAPI document. All its files come from this server.

The script and the styles come from the package `fastapi-swagger`. The page's Content-Security-Policy allows nothing
from other servers. It allows only the exact files that Swagger UI publishes (`INTEGRITY`).
"""

import asyncio
import html
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Final, Self

from fastapi import FastAPI, Request
from starlette.responses import Response

from spotthebot.kit.web.core.caching import etag_of, revalidated

DOCS_URL: Final = "/docs"
INTEGRITY: Final = {
    "swagger-ui-bundle.js": "sha384-9Td7MKiIr2S83E1kZyyVi8KdJw/S8CpAvu0llLyMeg0xq/hDGiZJfVn0fV4llCmK",
    "swagger-ui.css": "sha384-4c3vsE5f+trhFyHrFrLM1fFGUn531NIaC7dcqEWIJdoRQJ5CkJbSuSCwXLpaS1KF",
}
"""Digests of the files of `swagger-ui-dist` 5.34.0 on npm. Another version of the package needs new digests."""
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
# Addresses are relative: behind a proxy, the service may stand below a path.
_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css" integrity="{styles}">
</head>
<body>
<div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js" integrity="{script}"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""
_START = b"""\
SwaggerUIBundle({url: "openapi.json", dom_id: "#swagger-ui", deepLinking: true, validatorUrl: null});
"""


@dataclass(frozen=True)
class _File:
    """A file of the page with its ETag. The ETag is kept, since hashing a megabyte takes longer than sending it."""

    body: bytes
    etag: str
    media_type: str

    @classmethod
    def of(cls, body: bytes, media_type: str) -> Self:
        return cls(body, etag_of(body), media_type)


def mount_documentation(app: FastAPI) -> None:
    """Serve the page and its files. Everybody may read them, as they may read the OpenAPI document."""
    page = _PAGE.format(
        title=html.escape(app.title), styles=INTEGRITY["swagger-ui.css"], script=INTEGRITY["swagger-ui-bundle.js"]
    ).encode()
    app.add_route(DOCS_URL, _serve(partial(_File.of, page, "text/html")))
    app.add_route(f"{DOCS_URL}/start.js", _serve(partial(_File.of, _START, "text/javascript")))
    app.add_route(f"{DOCS_URL}/swagger-ui-bundle.js", _serve(partial(_read, "swagger-ui-bundle.js", "text/javascript")))
    app.add_route(f"{DOCS_URL}/swagger-ui.css", _serve(partial(_read, "swagger-ui.css", "text/css")))


def _serve(find: Callable[[], _File]) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        file = await asyncio.to_thread(find)
        response = revalidated(request, file.body, f"{file.media_type}; charset=utf-8", etag=file.etag)
        response.headers.update(_HEADERS)
        return response

    return answer


@cache
def _read(name: str, media_type: str) -> _File:
    """Return a file of Swagger UI. It is read from the disk at the first request."""
    return _File.of(files("fastapi_swagger.resources").joinpath(name).read_bytes(), media_type)
