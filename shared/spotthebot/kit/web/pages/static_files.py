"""Files that pages load: scripts, styles, pictures.

A browser may keep them for ever, since a change has a new address.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from spotthebot.kit.errors import NotFound

_MEDIA_TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
FOR_EVER = "public, max-age=31536000, immutable"


class StaticFiles:
    """The files of a folder. They are read once, and their address contains a digest of all of them.

    Modules import each other by relative paths, so a change of one file changes the address of all files.
    """

    def __init__(self, folder: Path, *, below: str = "/static") -> None:
        found = sorted(path for path in folder.rglob("*") if path.suffix in _MEDIA_TYPES)
        self._files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}
        digest = hashlib.sha256()
        for name, body in self._files.items():
            digest.update(name.encode() + b"\0" + body + b"\0")
        self._below = below
        self._prefix = f"{below}/{digest.hexdigest()[:12]}"

    def url(self, name: str) -> str:
        """Return the address of a file; raises KeyError if there is no file with this name."""
        if name not in self._files:
            raise KeyError(name)
        return f"{self._prefix}/{name}"

    def mount(self, app: FastAPI) -> None:
        """Serve the files."""
        app.add_route(f"{self._below}/{{digest}}/{{name:path}}", self._serve, include_in_schema=False)

    async def _serve(self, request: Request) -> Response:
        name = request.path_params["name"]
        body = self._files.get(name)
        if body is None:
            raise NotFound
        # A page that stayed open during an update requests files of the old release, and gets those of the new one.
        is_current = request.url.path.startswith(f"{self._prefix}/")
        headers = {"Cache-Control": FOR_EVER if is_current else "no-store"}
        return Response(body, media_type=_MEDIA_TYPES[Path(name).suffix], headers=headers)
