"""The script that draws charts to explore: Vega-Embed with all that it needs, as `vl-convert-python` carries it."""

import asyncio
import math
from importlib.metadata import version
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from spotthebot.kit.errors import NotFound
from spotthebot.kit.waits.memo import Memo

PREPARED: Final = Path(__file__).with_name("vega-embed.js")
"""The script, where an image was built with it and without the 84 MB that make it (`docker/root.sh`)."""
_FOR_EVER: Final = "public, max-age=31536000, immutable"


class ChartLibrary:
    """The script, made when somebody first asks for it: that takes seconds, and gives 900 KB.

    It is open to everybody, as a static file is: a frame with an origin of its own sends no cookies.
    """

    def __init__(self) -> None:
        self._name = f"vega-embed-{version('vl-convert-python')}.js"
        self._script = Memo[None, bytes](seconds=math.inf)

    @property
    def url(self) -> str:
        """Return its address, which changes with its version."""
        return f"/charts/{self._name}"

    def mount(self, app: FastAPI) -> None:
        """Serve it."""
        app.add_route("/charts/{name}", self._serve, include_in_schema=False)

    async def _serve(self, request: Request) -> Response:
        if request.path_params["name"] != self._name:
            raise NotFound
        script = await self._script.get(None, lambda: asyncio.to_thread(_bundle))
        return Response(script, media_type="text/javascript; charset=utf-8", headers={"Cache-Control": _FOR_EVER})


def _bundle() -> bytes:
    return PREPARED.read_bytes() if PREPARED.exists() else make_bundle()


def make_bundle() -> bytes:
    """Return the script, as `vl-convert-python` makes it."""
    import vl_convert  # noqa: PLC0415 - 30 MB that most processes never need

    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;").encode()
