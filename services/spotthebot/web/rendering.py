"""Makes pages: templates, filled in the visitor's language."""

import json
from pathlib import Path
from typing import Any, Final

from fastapi import Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import Response

from spotthebot.kit.web.pages.static_files import StaticFiles
from spotthebot.web.catalogues import Texts, read_catalogues
from spotthebot.web.chart_library import ChartLibrary
from spotthebot.web.domain.figure_heights import figure_heights
from spotthebot.web.domain.languages import choose_language
from spotthebot.web.domain.numbers import Numbers
from spotthebot.web.sessions import visitor_of

LANGUAGE_COOKIE: Final = "language"
_FOLDER = Path(__file__).parent
_LANGUAGES_OF_NAMES: Final = {"en": "English", "de": "Deutsch"}


class Renderer:
    """Fills templates; one for all requests."""

    def __init__(self) -> None:
        self.static = StaticFiles(_FOLDER / "static")
        self.charts = ChartLibrary()
        self._catalogues = read_catalogues()
        self._environment = Environment(
            loader=FileSystemLoader(_FOLDER / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters["json_data"] = json_data
        self._environment.globals["languages"] = _LANGUAGES_OF_NAMES
        self._environment.globals["figure_heights"] = figure_heights

    def texts_for(self, request: Request) -> Texts:
        """Return the texts in the language of a request."""
        accepted = request.headers.get("accept-language", "")
        return self._catalogues[choose_language(request.cookies.get(LANGUAGE_COOKIE), accepted, self._catalogues)]

    def page(self, request: Request, template: str, *, status: int = 200, **content: Any) -> Response:  # noqa: ANN401 - what the template shows
        """Return the page that a template makes of `content`.

        Templates also have `t` (the texts), `number` (writes numbers), `static` (a file's address), `path` and
        `visitor` (None: nobody signed in).
        """
        texts = self.texts_for(request)
        html = self.part(request, template, **content)
        headers = {"Cache-Control": "no-store", "Vary": "Cookie, Accept-Language", "Content-Language": texts.language}
        return Response(html, status_code=status, media_type="text/html; charset=utf-8", headers=headers)

    def part(self, request: Request, template: str, **content: Any) -> Markup:  # noqa: ANN401 - what the template shows
        """Return the HTML that a template makes of `content`: of a page, or of a part that stands in one."""
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
    """Return JSON that can stand in a `<script type="application/json">`, whatever texts it holds."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))  # noqa: S704 - escaped
