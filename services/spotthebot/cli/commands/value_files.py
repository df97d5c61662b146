"""The options and the file of `values`: a table of ratings with every value of a campaign or a study."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from spotthebot.local.progress import say
from spotthebot.local.whole_files import written

if TYPE_CHECKING:
    from spotthebot.contracts.analytics.choices import Filter

ValuesFile = Annotated[Path, typer.Option("--out", help="The CSV file.", dir_okay=False)]
Every = Annotated[bool, typer.Option("--all", help="Of packages that their annotators did not finish, too.")]


def filter_of(*, every: bool) -> "Filter":
    """Return which annotations count."""
    return "none" if every else "complete_packages"


def write_values(content: bytes, out: Path) -> None:
    """Write the table, completely or not at all, and print how to analyse it."""
    with written(out) as file:
        file.write(content)
    rows = content.count(b"\n") - 1
    say(f"{rows} values: ./stb analyse table {quote(str(out))}")
