"""LaTeX tables in the style of the field: booktabs, numbers as printed, everything else escaped."""

from typing import Final

from spotthebot.analytics.report.table import Table, shown

_ESCAPES: Final = str.maketrans(
    {
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
        "“": "``",
        "”": "''",
    }
)


def escape(text: str) -> str:
    r"""Make any text safe for LaTeX.

    >>> escape("a_b & 5 %")
    'a\\_b \\& 5 \\%'
    """
    return text.translate(_ESCAPES)


def latex_table(table: Table) -> str:
    """Write a table that needs the package booktabs."""
    alignment = "".join("r" if table.is_numeric(at) else "l" for at in range(len(table.columns)))
    head = " & ".join(escape(column.heading) for column in table.columns)
    body = "\n".join(
        " & ".join(escape(shown(cell, column.digits)) for cell, column in zip(row, table.columns, strict=True)) + r" \\"
        for row in table.rows
    )
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escape(table.title)}. {escape(table.caption)}}}",
            rf"\label{{tab:{table.key}}}",
            rf"\begin{{tabular}}{{{alignment}}}",
            r"\toprule",
            head + r" \\",
            r"\midrule",
            *([body] if body else []),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )
