"""Makes pages from templates, in the visitor's language.

The template `campaigns/form.html.jinja` is in the file `campaigns/templates/form.html.jinja`.
"""

import asyncio
import json
import math
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI, Request
from jinja2 import Environment, FileSystemLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import Response

from spotthebot.kit.errors import NotFound
from spotthebot.kit.waits.memo import Memo
from spotthebot.kit.web.pages.static_files import FOR_EVER, StaticFiles
from spotthebot.web.catalogues import Texts, read_catalogues
from spotthebot.web.layout.domain import Numbers, choose_language, figure_heights
from spotthebot.web.sessions import visitor_of

LANGUAGE_COOKIE: Final = "language"
_FOLDER = Path(__file__).parent
_LANGUAGES_OF_NAMES: Final = {"en": "English", "de": "Deutsch"}
PREPARED: Final = Path(__file__).with_name("vega-embed.js")
"""The script's file in an image: the image lacks the package that makes the script, 84 MB (`docker/root.sh`)."""


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
        return Response(script, media_type="text/javascript; charset=utf-8", headers={"Cache-Control": FOR_EVER})


class Renderer:
    """Renders templates. All requests share one renderer."""

    def __init__(self) -> None:
        self.static = StaticFiles(_FOLDER / "static")
        self.charts = ChartLibrary()
        self._catalogues = read_catalogues()
        self._environment = Environment(
            loader=PrefixLoader({each.parent.name: FileSystemLoader(each) for each in _FOLDER.glob("*/templates")}),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters["json_data"] = json_data
        self._environment.filters["code"] = code
        self._environment.globals["languages"] = _LANGUAGES_OF_NAMES
        self._environment.globals["figure_heights"] = figure_heights

    def texts_for(self, request: Request) -> Texts:
        """Return the texts in the visitor's language."""
        accepted = request.headers.get("accept-language", "")
        return self._catalogues[choose_language(request.cookies.get(LANGUAGE_COOKIE), accepted, self._catalogues)]

    def page(self, request: Request, template: str, *, status: int = 200, **content: Any) -> Response:  # noqa: ANN401 - what the template shows
        """Render a template with `content`, and return it as a page.

        In addition to `content`, templates have `t` (the texts), `number` (writes numbers), `static` (returns the
        address of a file), `path` and `visitor` (None if nobody signed in).
        """
        texts = self.texts_for(request)
        html = self.part(request, template, **content)
        headers = {"Cache-Control": "no-store", "Vary": "Cookie, Accept-Language", "Content-Language": texts.language}
        return Response(html, status_code=status, media_type="text/html; charset=utf-8", headers=headers)

    def part(self, request: Request, template: str, **content: Any) -> Markup:  # noqa: ANN401 - what the template shows
        """Render a template with `content`, and return the HTML: of a complete page or of a part of a page."""
        texts = self.texts_for(request)
        html = self._environment.get_template(template).render(
            t=texts,
            number=Numbers(texts.language),
            static=self.static.url,
            path=request.url.path,
            visitor=visitor_of(request),
            **content,
        )
        return Markup(html)  # noqa: S704 - the template escaped it


def json_data(value: object) -> Markup:
    """Return JSON for a `<script type="application/json">`. Texts in the value can't end this HTML element."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))  # noqa: S704 - escaped


def code(sentence: str) -> Markup:
    """Return a service's sentence as HTML: words between backticks become code.

    >>> code("`stb <x>` & more")
    Markup('<code>stb &lt;x&gt;</code> &amp; more')
    """
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(sentence))))  # noqa: S704 - escaped


def _bundle() -> bytes:
    return PREPARED.read_bytes() if PREPARED.exists() else make_bundle()


def make_bundle() -> bytes:
    """Return the chart script, made by `vl-convert-python`."""
    import vl_convert  # noqa: PLC0415 - 30 MB that most processes never need

    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;").encode()
