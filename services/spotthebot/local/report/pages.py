"""Renders a report as one HTML page."""

from collections.abc import Mapping
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from spotthebot.kit.text.characters import without_overrides
from spotthebot.local.report.drawings import Drawing, colour_rules, mark_of
from spotthebot.local.report.report import Report
from spotthebot.local.report.table import p_words, shown


def page(report: Report, drawn: Mapping[str, Drawing]) -> str:
    """Return the page, self-contained: style and figures inside, no script, no request to other servers."""
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(_text),
    )
    environment.filters |= {"shown": shown, "p": p_words, "breakable": _breakable}
    prose = report.methods
    html = environment.get_template(report.template).render(
        title=report.title,
        result=report.result,
        basis=report.basis,
        notices=report.notices,
        settings=report.settings,
        findings=report.findings,
        tables={table.key: table for table in report.tables},
        figures=drawn,
        marks={each.name: mark_of(each) for each in report.speakers},
        colours=colour_rules(),
        style=Markup(_text("report.css")),  # noqa: S704 - our own file
        methods=prose.sentences,
        references=prose.references,
        **report.own_values,
    )
    return without_overrides(html)


def _breakable(name: str) -> Markup:
    """Return a measure's name that a narrow column breaks between its words."""
    words = escape(name)
    for mark in "._:":
        words = words.replace(mark, Markup("{}<wbr>").format(mark))
    return words


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
