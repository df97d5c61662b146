"""Makes pages from templates, in the visitor's language.

The template `campaigns/form.html.jinja` is in the file `campaigns/templates/form.html.jinja`.
"""

import json
from pathlib import Path
from typing import Any, Final

from fastapi import Request
from jinja2 import Environment, FileSystemLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import Response

from spotthebot.kit.web.pages.static_files import StaticFiles
from spotthebot.web.catalogues import Texts, read_catalogues
from spotthebot.web.chart_library import ChartLibrary
from spotthebot.web.layout.domain import Numbers, choose_language, figure_heights
from spotthebot.web.sessions import visitor_of

LANGUAGE_COOKIE: Final = "language"
_FOLDER = Path(__file__).parent
_LANGUAGES_OF_NAMES: Final = {"en": "English", "de": "Deutsch"}


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
