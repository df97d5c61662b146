"""The options and the file of `values`: every value of a campaign or a study, as a table of ratings or as events."""

from collections.abc import AsyncIterable
from pathlib import Path
from shlex import quote
from time import time_ns
from typing import TYPE_CHECKING, Annotated

import typer

from spotthebot.cli.commands.value_events import lines_of_events
from spotthebot.local.progress import say
from spotthebot.local.whole_files import written

if TYPE_CHECKING:
    from spotthebot.contracts.analytics.choices import Filter

ValuesFile = Annotated[Path, typer.Option("--out", help="The file.", dir_okay=False)]
Events = Annotated[
    bool,
    typer.Option("--events", help="Events gen_ai.evaluation.result of OpenTelemetry, in JSON lines, in place of CSV."),
]
Every = Annotated[bool, typer.Option("--all", help="Of packages that their annotators did not finish, too.")]


def filter_of(*, every: bool) -> "Filter":
    """Return which annotations count."""
    return "none" if every else "complete_packages"


async def write_values(pieces: AsyncIterable[bytes], out: Path, *, events: bool) -> int:
    """Write the table or the events, completely or not at all, and return the number of values."""
    values = 0
    with written(out) as file:
        if events:
            table = b"".join([piece async for piece in pieces]).decode()
            for line, count in lines_of_events(table, time_ns()):
                file.write(line)
                values += count
            return values
        async for piece in pieces:
            file.write(piece)
            values += piece.count(b"\n")
    return values - 1


def say_values(values: int, out: Path, *, events: bool) -> None:
    """Print how to analyse the table."""
    say(f"{values} values" + ("." if events else f": ./stb analyse table {quote(str(out))}"))
