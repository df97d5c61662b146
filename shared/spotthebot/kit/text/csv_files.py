"""Writes small files of comma-separated values (RFC 4180), such as those by which people are paid."""

import csv
import io
from collections.abc import Iterable, Sequence
from decimal import Decimal

from spotthebot.kit.text.characters import without_formula


def csv_of(rows: Iterable[Sequence[object]]) -> str:
    r"""Return rows as CSV. Amounts have two decimals, and no spreadsheet runs a cell as a formula.

    >>> csv_of([("ann", Decimal("1.5")), ("=1+1", 2)])
    "ann,1.50\r\n'=1+1,2\r\n"
    """
    written = io.StringIO(newline="")
    csv.writer(written).writerows([_cell(value) for value in row] for row in rows)
    return written.getvalue()


def _cell(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, Decimal) else without_formula(str(value))


def lines_of(values: Iterable[str]) -> str:
    """Return values as CSV with one column: each value once, one a line."""
    return csv_of([each] for each in dict.fromkeys(values))
