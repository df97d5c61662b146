"""Prints lists of resources, and the facts about one resource, on standard output.

Ids are never cut. If a program reads the output, each row is one line.
"""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from spotthebot.kit.text.characters import INVISIBLE
from spotthebot.local.progress import say

_UUID_WIDTH: Final = 36
_ENDLESS: Final = 100_000
ID: Final = "Id"
"""The column whose cells are never cut or wrapped."""


def print_details(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table below the facts of the resource that it belongs to. A table without rows is not printed."""
    shown = list(rows)
    if shown:
        sys.stdout.write("\n")
        print_list(columns, shown, empty="")


def print_list(columns: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str, title: str = "") -> None:
    """Print a table that fits into 80 columns. If the table has no rows, print the sentence `empty`.

    On a terminal, or if COLUMNS is set, long names continue on the next line. Otherwise each row is one line.
    A cell that is a Text keeps its colour on a terminal.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        if name == ID:
            table.add_column(name, no_wrap=True, min_width=_UUID_WIDTH)
        else:
            table.add_column(name, overflow="fold", min_width=len(name))
    for row in rows:
        table.add_row(*(each if isinstance(each, Text) else Text(cell(each)) for each in row))
    if not table.row_count:
        say(empty)
        return
    if title:
        sys.stdout.write(f"\n{title}\n")
    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    console = Console() if has_width else Console(width=_ENDLESS)
    with console.capture() as printed:
        console.print(table, crop=False)
    sys.stdout.write("\n".join(line.rstrip() for line in printed.get().split("\n")))


def print_facts(facts: Mapping[str, object]) -> None:
    """Print the facts about one resource, one a line. Facts that are None are left out."""
    width = max(map(len, facts))
    for name, fact in facts.items():
        if fact is not None:
            sys.stdout.write(f"{name:<{width}}  {cell(fact)}\n")


def cell(value: object) -> str:
    """Return the text of a value in one line, without control characters. A time has the precision of a minute."""
    if value is None or value == "":
        return "-"
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return " ".join(INVISIBLE.sub("\ufffd", str(value)).split())
