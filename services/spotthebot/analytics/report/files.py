"""Writes a report into a folder: one page for people, and the same tables for programs and papers."""

import csv
import io
import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from spotthebot.analytics.figures import FIGURES, FigureInput, Spec, pdf_of, render
from spotthebot.analytics.report.annotators import annotator_codes, with_annotators
from spotthebot.analytics.report.latex import latex_document, latex_table
from spotthebot.analytics.report.methods import findings, methods
from spotthebot.analytics.report.table import Cell, Table, p_words, shown
from spotthebot.analytics.report.tables import tables
from spotthebot.contracts.analytics import Analysis, Stability
from spotthebot.kit.text import without_formula


def write_report(
    analysis: Analysis, stability: Stability | None, folder: Path, *, names: Mapping[str, str] | None = None
) -> None:
    """Write the page, the document and the folders `tables`, `csv` and `figures`; each file whole or not at all.

    `tables.tex` shows the files in `tables`, one for each table. The figure of stability is left out where it was not
    computed. The same results give the same bytes, except of the figures' PDFs, whose fonts may change places.
    `names` are what annotators are called, codes where it is None.
    """
    called = annotator_codes([each.annotator for each in analysis.annotators.annotators]) if names is None else names
    analysis = with_annotators(analysis, called)
    specs = {
        name: draw(FigureInput(analysis, stability))
        for name, draw in FIGURES.items()
        if stability or name != "stability"
    }
    drawn = {name: render(spec, "svg").decode() for name, spec in specs.items()}
    found = tables(analysis)
    document = analysis.model_dump(mode="json") | {"stability": stability and stability.model_dump(mode="json")}
    contents: dict[str, str | bytes] = {
        "report.html": page(analysis, stability, drawn),
        "report.json": json.dumps(document, indent=2, ensure_ascii=False) + "\n",
        "tables.tex": latex_document(analysis.campaign, found),
    }
    contents |= {f"tables/{table.key}.tex": latex_table(table) for table in found}
    contents |= {f"csv/{table.key}.csv": as_csv(table) for table in found}
    contents |= {f"figures/{name}.svg": svg for name, svg in drawn.items()}
    contents |= {f"figures/{name}.pdf": pdf_of(svg) for name, svg in drawn.items()}
    contents |= {f"figures/{name}.vl.json": _json(spec) for name, spec in specs.items()}
    for name, content in contents.items():
        _write(folder / name, content.encode() if isinstance(content, str) else content)


def page(analysis: Analysis, stability: Stability | None, drawn: Mapping[str, str]) -> str:
    """Return the page, self-contained: style and figures inside, no script, nothing fetched."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"shown": shown, "p": p_words}
    template = environment.from_string(files(__package__).joinpath("report.html.jinja").read_text(encoding="utf-8"))
    prose = methods(analysis, stability)
    return template.render(
        analysis=analysis,
        findings=findings(analysis),
        tables={table.key: table for table in tables(analysis)},
        # What vl-convert drew from our own specs, with all text escaped by it.
        figures={name: Markup(svg) for name, svg in drawn.items()},  # noqa: S704 - see above
        methods=prose.sentences,
        references=prose.references,
    )


def as_csv(table: Table) -> str:
    """Write a table as RFC 4180 says, at full precision; names that a spreadsheet takes for a formula are quoted."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(column.name for column in table.columns)
    for row in table.rows:
        writer.writerow(_plain(cell) for cell in row)
    return out.getvalue()


def _plain(cell: Cell) -> str | int | float:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return without_formula(cell) if isinstance(cell, str) else cell


def _json(spec: Spec) -> str:
    return json.dumps(spec, indent=1, ensure_ascii=False) + "\n"


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
