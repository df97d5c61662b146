"""Writes a report into a folder: one page for people, and the same tables for programs and papers."""

import csv
import io
import json
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from spotthebot.analytics.figures.renderer import pdf_of
from spotthebot.kit.text.characters import without_formula
from spotthebot.local.report.bibliography import bibliography
from spotthebot.local.report.latex import latex_comments, latex_document, latex_table
from spotthebot.local.report.markdown import markdown_report
from spotthebot.local.report.pages import page
from spotthebot.local.report.report import Report
from spotthebot.local.report.samples import SampleGroup
from spotthebot.local.report.table import Cell, Table

_GROUPS: Final = TypeAdapter(tuple[SampleGroup, ...])


def write_report(report: Report, folder: Path) -> None:
    """Write the page, the documents and the folders `tables`, `csv` and `figures`; each file completely or not at all.

    `tables.tex` shows the files in `tables`, one for each table. The same results give the same bytes, except for the
    figures' PDFs, in which the order of fonts may change.
    """
    drawn = report.draw()
    warnings = [report.basis, *(each.words for each in report.notices)]
    contents: dict[str, str | bytes] = {
        "report.html": page(report, drawn),
        "report.md": markdown_report(report),
        "report.json": _json(report.document, indent=2),
        "tables.tex": latex_document(report.title, warnings, report.tables),
        "references.bib": bibliography(report.methods.references, report.result.version),
    }
    if report.sample_groups:
        contents["samples.json"] = _json(_GROUPS.dump_python(report.sample_groups, mode="json"), indent=2)
    contents |= {f"tables/{table.key}.tex": latex_comments(warnings) + latex_table(table) for table in report.tables}
    contents |= {f"csv/{table.key}.csv": as_csv(table) for table in report.tables}
    contents |= {f"figures/{name}.svg": drawing.wide for name, drawing in drawn.items()}
    contents |= {f"figures/{name}.pdf": pdf_of(drawing.wide) for name, drawing in drawn.items()}
    contents |= {f"figures/{name}.vl.json": _json(drawing.spec, indent=1) for name, drawing in drawn.items()}
    for name, content in contents.items():
        _write(folder / name, content.encode() if isinstance(content, str) else content)


def as_csv(table: Table) -> str:
    """Return a table as CSV (RFC 4180) at full precision; names that a spreadsheet would run as formulas are quoted."""
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
