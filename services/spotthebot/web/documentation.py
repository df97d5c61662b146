"""Serves the documentation site at `/docs`, if it was built: in a clone by `./stb docs --site`, and then in images."""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from spotthebot.kit.web.pages.headers import policy_with

SITE: Final = Path(__file__).with_name("site")
"""The built site: files that need no sign-in. Git ignores the folder."""
_INLINE: Final = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def mount_site(app: FastAPI, site: Path = SITE) -> None:
    """Add the endpoints of the site to an application. Without a built site they lead to its pages as one text."""
    files = StaticFiles(directory=site, html=True, check_dir=False)

    async def serve(request: Request) -> Response:
        if not site.is_dir():  # noqa: ASYNC240 - one look, as Starlette takes at each file
            return RedirectResponse("/llms-full.txt")
        response = await files.get_response(request.path_params["path"], request.scope)
        response.headers["Content-Security-Policy"] = _policy(site)
        response.headers["Cache-Control"] = "no-cache"
        return response

    async def complete(request: Request) -> Response:
        return RedirectResponse(f"{request.url.path}/")  # the site's addresses are relative to its folder

    app.add_route("/docs", complete, include_in_schema=False)
    app.add_route("/docs/{path:path}", serve, include_in_schema=False)


@cache
def _policy(site: Path) -> str:
    """Return a policy that allows, of scripts inside pages, those of the site's first page alone."""
    scripts = _INLINE.findall((site / "index.html").read_text())
    digests = [base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in scripts]
    allowed = " ".join(["'self'", *(f"'sha256-{each}'" for each in digests)])
    return policy_with(script_src=allowed, style_src="'self' 'unsafe-inline'")
