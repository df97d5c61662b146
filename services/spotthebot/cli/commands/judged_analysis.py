"""`stb analyse judged`: fooling rates that an automatic judge corrects, from a file, without a service."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from spotthebot.cli.commands.options import JsonFile, check_output, write_json
from spotthebot.cli.results.tables import Table
from spotthebot.contracts.levels import MAX_LEVEL, MIN_LEVEL
from spotthebot.local.analysis import analyse_judged
from spotthebot.local.progress import say
from spotthebot.readers.files.cells import shown


def analyse_judged_file(
    path: Annotated[
        Path,
        typer.Argument(
            exists=True,
            dir_okay=False,
            help="CSV with the columns conversation, bot, annotator, label and judge (probability of human).",
        ),
    ],
    confidence_level: Annotated[float, typer.Option(min=MIN_LEVEL, max=MAX_LEVEL, help="Of intervals.")] = 0.95,
    json_file: JsonFile = None,
) -> None:
    """Correct fooling rates by an automatic judge, and show how many of people's labels it saves."""
    check_output(json_file)
    document = analyse_judged(path, confidence_level)
    if document["repeated_rows"]:
        say(f"{document['repeated_rows']} rows repeat an earlier row, and count once.")
    write_json(json_file, document)
    if str(json_file) != "-":
        _print(Console(), document)


def _print(console: Console, document: dict[str, Any]) -> None:
    interval = f"{document['confidence_level']:.0%} interval"
    table = Table(
        *("Bot", "Labels", "Judged", "Missing", "People alone", interval, "Judge alone, biased"),
        *("Corrected", interval, "Labels saved", interval),
        title="Fooling rates",
    )
    for bot in document["bots"]:
        estimates = (bot[name] for name in ("corrected", "labels_saved"))
        table.add_row(
            Text(shown(bot["bot"])),
            str(bot["n_people"]),
            str(bot["n_judged"]),
            _share(bot["missing"]),
            *_cells(bot["people"]),
            _share(bot["judge"]["estimate"]),
            *(cell for each in estimates for cell in _cells(each)),
        )
    console.print(table)
    for reason, bots in _reasons(document).items():
        console.print(f"{', '.join(bots)}: {reason}.", markup=False, highlight=False)
    ceiling = document["ceiling"]
    estimate, bounds = _cells(ceiling)
    said = f"{estimate} ({bounds})" if ceiling["estimate"] is not None else f"unknown, since {ceiling['reason']}"
    console.print(f"The most labels that any judge can save: {said}.", markup=False, highlight=False)


def _reasons(document: dict[str, Any]) -> dict[str, list[str]]:
    """Return the names of bots by the reason why the judge changes nothing about them, or there is no number."""
    found: dict[str, list[str]] = {}
    for bot in document["bots"]:
        reason = bot["people"]["reason"] if bot["n_people"] else None
        reason = reason or bot["reason"]
        if reason:
            found.setdefault(reason, []).append(shown(bot["bot"]))
    return found


def _cells(interval: dict[str, Any]) -> tuple[str, str]:
    bounds = "-" if interval["low"] is None else f"{_share(interval['low'])} to {_share(interval['high'])}"
    return _share(interval["estimate"]), bounds


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:z.1%}"
