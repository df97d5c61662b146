"""The options and the file of `values`: a table of ratings with every value of a campaign or a study."""

from collections.abc import AsyncIterable
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


async def write_values(pieces: AsyncIterable[bytes], out: Path) -> int:
    """Write the table, completely or not at all, and return its number of values."""
    lines = 0
    with written(out) as file:
        async for piece in pieces:
            file.write(piece)
            lines += piece.count(b"\n")
    return lines - 1


def say_values(values: int, out: Path) -> None:
    """Print how to analyse the table."""
    say(f"{values} values: ./stb analyse table {quote(str(out))}")
