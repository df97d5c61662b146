"""LaTeX tables for the packages booktabs and siunitx: numbers aligned at the point, intervals, p-values, escaped texts.

The output compiles with pdfTeX, XeTeX and LuaTeX.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from spotthebot.local.report.table import Cell, Column, Role, Table, shown_p

_MAX_ROWS: Final = 45
"""The rows of a page; a longer table continues in floats of the same number."""
_SIZES: Final = (
    (10, (r"\scriptsize", r"\setlength{\tabcolsep}{3pt}")),
    (6, (r"\footnotesize", r"\setlength{\tabcolsep}{4pt}")),
)
"""Font sizes and column gaps for tables with more columns than this."""
_LONG_TEXT: Final = 30
_MISSING: Final = "--"

_ESCAPES: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    "`": r"\textasciigrave{}",
    "[": "{[}",  # at the start of a line it would be an argument of the previous line's end,
    "*": "{*}",  # or its star
    "“": "``",
    "”": "''",
    "±": r"$\pm$",
    "\u00a0": "~",
}
_HYPHENS: Final = re.compile("-(?=-)")
"""Hyphens that would become a dash with the next one."""
_KNOWN: Final = frozenset("ßæÆøØœŒłŁ\u2013\u2014\u2018\u2019\u2026")
"""Letters and marks in LaTeX's oldest encoding, in addition to ASCII and its accented letters."""
_ACCENTS: Final = frozenset("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c")


def escape(text: str) -> str:
    r"""Escape any text for LaTeX. pdfTeX lacks the letters of most scripts and shows their code points instead.

    >>> escape("a_b & 5 %")
    'a\\_b \\& 5 \\%'
    >>> escape("中")
    '\\ifdefined\\Umathcode 中\\else{[}U+4E2D]\\fi{}'
    """
    return _HYPHENS.sub(r"-\\kern0pt{}", "".join(_ESCAPES.get(each) or _letter(each) for each in text))


def _letter(each: str) -> str:
    if each.isascii():
        return each if each.isprintable() else " "
    base, *accents = list(unicodedata.normalize("NFD", each))
    if each in _KNOWN or (base.isascii() and base.isalpha() and len(accents) == 1 and accents[0] in _ACCENTS):
        return each
    point = f"{{[}}U+{ord(each):04X}]"
    if unicodedata.category(each)[0] in "CZ":
        return point
    return rf"\ifdefined\Umathcode {each}\else{point}\fi{{}}"


def latex_table(table: Table) -> str:
    """Return a table as a float, or as several floats of one number if it is longer than a page."""
    columns = tuple(_columns(table))
    batches = [table.rows[at : at + _MAX_ROWS] for at in range(0, max(len(table.rows), 1), _MAX_ROWS)]
    floats = (_float(table, columns, rows, part, len(batches)) for part, rows in enumerate(batches, start=1))
    return "% Needs \\usepackage{booktabs} and \\usepackage{siunitx}.\n" + "\n".join(floats)


def latex_comments(lines: Iterable[str]) -> str:
    """Return each line as a comment, which does not appear in print."""
    return "".join(f"% {' '.join(each.split())}\n" for each in lines)


def latex_document(title: str, warnings: Iterable[str], tables: Sequence[Table]) -> str:
    """Return a document that shows the warnings and the files of all tables, to look at them or copy its preamble."""
    return "\n".join(
        [
            r"\documentclass{article}",
            r"\usepackage[margin=2cm,landscape]{geometry}",
            r"\usepackage{booktabs}",
            r"\usepackage{siunitx}",
            r"\begin{document}",
            rf"\section*{{{escape(title)}}}",
            *(f"{escape(each)}\n" for each in warnings),
            *(rf"\input{{tables/{table.key}}}\clearpage" for table in tables),
            r"\end{document}",
            "",
        ]
    )


@dataclass(frozen=True)
class _Column:
    """A column of the LaTeX table: its type, its heading, and the one or two columns of the table that it shows."""

    type: str
    heading: str
    at: int
    column: Column

    @property
    def is_interval(self) -> bool:
        return self.column.role is Role.LOW

    @property
    def is_aligned(self) -> bool:
        """Return whether siunitx aligns the column at the point; it needs braces around text then."""
        return self.type.startswith("S")


def _columns(table: Table) -> list[_Column]:
    found = []
    for at, column in enumerate(table.columns):
        cells = [row[at] for row in table.rows]
        if column.role is Role.HIGH:
            continue
        heading = "Interval" if column.role is Role.LOW else column.heading
        if column.role in {Role.LOW, Role.P_VALUE}:
            kind = "r"
        elif table.is_numeric(at):
            kind = _number_type(cells, column)
        else:
            is_long = any(isinstance(cell, str) and len(cell) > _LONG_TEXT for cell in cells)
            kind = r">{\raggedright\arraybackslash}p{0.25\linewidth}" if is_long else "l"
        written = escape(heading)
        if column.role is Role.P_VALUE:
            written = written.replace("p", "$p$", 1)
        found.append(_Column(kind, written, at, column))
    return found


def _number_type(cells: Sequence[Cell], column: Column) -> str:
    numbers = [cell for cell in cells if isinstance(cell, int | float) and math.isfinite(cell)]
    if not numbers:
        return "r"
    whole = max(len(f"{abs(number):.0f}") for number in numbers)
    digits = f".{column.digits}" if any(isinstance(number, float) for number in numbers) else ""
    sign = "-" if any(number < 0 for number in numbers) else ""
    return f"S[table-format={sign}{whole}{digits}]"


def _float(table: Table, columns: Sequence[_Column], rows: Sequence[tuple[Cell, ...]], part: int, parts: int) -> str:
    part_of = f" (part {part} of {parts})" if parts > 1 else ""
    heads = (f"{{{each.heading}}}" if each.is_aligned else each.heading for each in columns)
    body = (" & ".join(_shown(each, row) for each in columns) + r" \\" for row in rows)
    return "\n".join(
        [
            *([r"\addtocounter{table}{-1}"] if part > 1 else []),
            r"\begin{table}[htbp]",
            r"\centering",
            *next((commands for number, commands in _SIZES if len(columns) > number), ()),
            rf"\caption{{{escape(table.title)}{part_of}. {escape(table.caption)}}}",
            *([rf"\label{{tab:{table.key}}}"] if part == 1 else []),
            r"\smallskip",
            # A table wider than the text extends on both sides.
            r"\makebox[\linewidth][c]{%",
            rf"\begin{{tabular}}{{{''.join(each.type for each in columns)}}}",
            r"\toprule",
            " & ".join(heads) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}}",
            r"\end{table}",
            "",
        ]
    )


def _shown(column: _Column, row: Sequence[Cell]) -> str:
    cell = row[column.at]
    if column.is_interval:
        low, high = (_number(bound, column.column.digits) for bound in row[column.at : column.at + 2])
        return _MISSING if {low, high} == {_MISSING} else f"[{low}, {high}]"
    if column.column.role is Role.P_VALUE and (cell is None or isinstance(cell, float)):
        return _MISSING if cell is None else f"${shown_p(cell)}$"
    if isinstance(cell, str):
        return escape(cell)
    if not column.is_aligned:
        return _MISSING if cell is None else escape(column.column.shown(cell))
    digits = column.column.digits
    if cell is None or not math.isfinite(cell):
        return f"{{{_number(cell, digits)}}}"
    is_tiny = isinstance(cell, float) and 0 < cell < 10**-digits
    return f"{{$< {10**-digits:.{digits}f}$}}" if is_tiny else _digits(cell, digits)


def _number(cell: Cell, digits: int) -> str:
    if not isinstance(cell, int | float) or math.isnan(cell):
        return _MISSING
    if math.isinf(cell):
        return r"$\infty$" if cell > 0 else r"$-\infty$"
    return rf"\num{{{_digits(cell, digits)}}}"


def _digits(number: float, digits: int) -> str:
    """Return a number with a point and no other mark. A negative one that rounds to zero has no sign."""
    return str(number) if isinstance(number, int) else f"{number:z.{digits}f}"
