"""A report as Markdown: its warnings, findings and tables, for a pull request or the README of a repository."""

import re
from collections.abc import Iterator
from typing import Final

from spotthebot.local.report.report import Report
from spotthebot.local.report.table import Table

_MARKS: Final = re.compile(r"([\\`*_{}\[\]>#+~|&!$]|<(?! ))")


def markdown_report(report: Report) -> str:
    """Return the basis, warnings, findings and all tables in the Markdown of GitHub (GFM 0.29, section 4.10)."""
    lines = [f"# {escape(report.title)}", "", escape(report.basis), ""]
    for notice in report.notices:
        lines += [f"> **{escape(notice.title)}.** {escape(notice.text)}".rstrip()]
        lines += [*(f"> - {escape(each)}" for each in notice.items), ""]
    lines += [f"- {escape(each)}" for each in report.findings]
    for table in report.tables:
        lines += ["", f"## {escape(table.title)}", "", escape(table.caption), "", *_rows(table)]
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    r"""Escape any text in one line, so that Markdown in it has no effect.

    >>> escape("a_b | *c*")
    'a\\_b \\| \\*c\\*'
    """
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


def _rows(table: Table) -> Iterator[str]:
    yield _row(escape(column.heading) for column in table.columns)
    yield _row("--:" if table.is_numeric(at) else "---" for at in range(len(table.columns)))
    for row in table.rows:
        yield _row(escape(column.shown(cell)) for column, cell in zip(table.columns, row, strict=True))


def _row(cells: Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |"
