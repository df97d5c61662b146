"""Writes a report into a folder: one page for people, and the same tables for programs and papers."""

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Final

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup
from pydantic import TypeAdapter

from spotthebot.analytics.domain.findings import findings
from spotthebot.analytics.figures import FIGURES, pdf_of
from spotthebot.analytics.report.annotators import annotator_codes, with_annotators
from spotthebot.analytics.report.design import Design
from spotthebot.analytics.report.design_tables import design_tables
from spotthebot.analytics.report.drawings import Drawing, colour_rules, draw_figure, mark_of
from spotthebot.analytics.report.latex import latex_document, latex_table
from spotthebot.analytics.report.methods import methods
from spotthebot.analytics.report.sample_pages import SampleGroup, written_samples
from spotthebot.analytics.report.samples import TIES, Samples
from spotthebot.analytics.report.table import Cell, Table, p_words, shown
from spotthebot.analytics.report.tables import has_features, tables
from spotthebot.contracts.analytics.analyses import Stability
from spotthebot.contracts.analytics.results import Analysis
from spotthebot.kit.text.characters import without_formula, without_overrides

_GROUPS: Final = TypeAdapter(tuple[SampleGroup, ...])


@dataclass(frozen=True)
class Report:
    """What a report shows; the figure of stability is left out where it was not computed.

    `names` are what annotators are called, codes where it is None. Results of files have no `design`, and no `samples`.
    """

    analysis: Analysis
    stability: Stability | None
    names: Mapping[str, str] | None = None
    design: Design | None = None
    samples: Samples | None = None

    @cached_property
    def annotators(self) -> Mapping[str, str]:
        """What annotators are called."""
        if self.names is not None:
            return self.names
        return annotator_codes([each.annotator for each in self.analysis.annotators.annotators])

    @cached_property
    def named_analysis(self) -> Analysis:
        """The analysis, with annotators as the report calls them."""
        return with_annotators(self.analysis, self.annotators)

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """All tables that have rows."""
        found = tables(self.named_analysis)
        return found if self.design is None else (*found, *design_tables(self.design, self.analysis))

    @cached_property
    def sample_groups(self) -> tuple[SampleGroup, ...]:
        """The sample conversations with their texts."""
        return () if self.samples is None else written_samples(self.samples, self.annotators)


def write_report(report: Report, folder: Path) -> None:
    """Write the page, the document and the folders `tables`, `csv` and `figures`; each file whole or not at all.

    `tables.tex` shows the files in `tables`, one for each table. The same results give the same bytes, except of the
    figures' PDFs, whose fonts may change places.
    """
    analysis, stability = report.named_analysis, report.stability
    left_out = {
        name for name, is_there in (("stability", stability), ("features", has_features(analysis))) if not is_there
    }
    drawn = {name: draw_figure(name, analysis, stability) for name in FIGURES if name not in left_out}
    document = analysis.model_dump(mode="json") | {"stability": stability and stability.model_dump(mode="json")}
    contents: dict[str, str | bytes] = {
        "report.html": page(report, drawn),
        "report.json": _json(document, indent=2),
        "tables.tex": latex_document(analysis.campaign, report.tables),
    }
    if report.sample_groups:
        contents["samples.json"] = _json(_GROUPS.dump_python(report.sample_groups, mode="json"), indent=2)
    contents |= {f"tables/{table.key}.tex": latex_table(table) for table in report.tables}
    contents |= {f"csv/{table.key}.csv": as_csv(table) for table in report.tables}
    contents |= {f"figures/{name}.svg": drawing.wide for name, drawing in drawn.items()}
    contents |= {f"figures/{name}.pdf": pdf_of(drawing.wide) for name, drawing in drawn.items()}
    contents |= {f"figures/{name}.vl.json": _json(drawing.spec, indent=1) for name, drawing in drawn.items()}
    for name, content in contents.items():
        _write(folder / name, content.encode() if isinstance(content, str) else content)


def page(report: Report, drawn: Mapping[str, Drawing]) -> str:
    """Return the page, self-contained: style and figures inside, no script, nothing fetched."""
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(_text),
    )
    environment.filters |= {"shown": shown, "p": p_words}
    analysis = report.named_analysis
    prose = methods(analysis, report.stability)
    html = environment.get_template("report.html.jinja").render(
        analysis=analysis,
        findings=findings(analysis),
        has_features=has_features(analysis),
        tables={table.key: table for table in report.tables},
        figures=drawn,
        marks={each.name: mark_of(each) for each in analysis.speakers},
        colours=colour_rules(),
        style=Markup(_text("report.css")),  # noqa: S704 - our own file
        methods=prose.sentences,
        references=prose.references,
        samples=report.samples,
        sample_groups=report.sample_groups,
        ties=TIES,
        are_codes=report.names is None,
    )
    return without_overrides(html)


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


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _json(document: object, *, indent: int) -> str:
    return json.dumps(document, indent=indent, ensure_ascii=False) + "\n"


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
