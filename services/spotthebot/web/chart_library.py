"""The browser script that draws interactive charts: Vega-Embed and its dependencies, from `vl-convert-python`."""

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
"""The script's file in an image: the image lacks the package that makes the script, 84 MB (`docker/root.sh`)."""
_FOR_EVER: Final = "public, max-age=31536000, immutable"


class ChartLibrary:
    """Serves the chart script, a file of 900 KB. The first request makes the script, which takes seconds.

    The script needs no sign-in, like a static file: charts are shown in a sandboxed frame, which sends no cookies.
    """

    def __init__(self) -> None:
        self._name = f"vega-embed-{version('vl-convert-python')}.js"
        self._script = Memo[None, bytes](seconds=math.inf)

    @property
    def url(self) -> str:
        """Return the address of the chart script, which changes with the script's version."""
        return f"/charts/{self._name}"

    def mount(self, app: FastAPI) -> None:
        """Add the endpoint of the chart script to an application."""
        app.add_route("/charts/{name}", self._serve, include_in_schema=False)

    async def _serve(self, request: Request) -> Response:
        if request.path_params["name"] != self._name:
            raise NotFound
        script = await self._script.get(None, lambda: asyncio.to_thread(_bundle))
        return Response(script, media_type="text/javascript; charset=utf-8", headers={"Cache-Control": _FOR_EVER})


def _bundle() -> bytes:
    return PREPARED.read_bytes() if PREPARED.exists() else make_bundle()


def make_bundle() -> bytes:
    """Return the chart script, made by `vl-convert-python`."""
    import vl_convert  # noqa: PLC0415 - 30 MB that most processes never need

    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;").encode()
