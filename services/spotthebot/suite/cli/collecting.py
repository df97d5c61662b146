"""`stb collect`: hold a collection that a file declares."""

import asyncio
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from spotthebot.suite import collecting
from spotthebot.suite.cli.options import (
    DEFAULT_DATA_DIR,
    DataDir,
    JsonFile,
    check_folder,
    check_output,
    folder_at,
    write_json,
)
from spotthebot.suite.cli.watching import watching
from spotthebot.suite.collecting import DeclarationFaulty, Declared, Sight
from spotthebot.suite.data_folder import DataFolder
from spotthebot.suite.progress import screen
from spotthebot.suite.session import Ground, connect, ground

_WRONG_USAGE = 2
_INTERRUPTED = 130


def collect(
    file: Annotated[
        Path | None,
        typer.Argument(
            exists=True, dir_okay=False, help="YAML file that declares the collection: see docs/collecting.md."
        ),
    ] = None,
    json_file: JsonFile = None,
    export: Annotated[
        Path | None, typer.Option("--export", help="Write conversations.jsonl to this folder at the end.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would cost, and hold nothing.")] = False,
    anew: Annotated[
        bool, typer.Option("--anew", help="Begin once more, even if this file was collected already.")
    ] = False,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of the file's form.")] = False,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Hold a collection of conversations; the same file again goes on where it was left."""
    if schema:
        sys.stdout.write(collecting.schema_text() + "\n")
        return
    if file is None:
        message = "name a file, or --schema"
        raise typer.BadParameter(message)
    check_output(json_file)
    if export is not None:
        check_folder(export)
    folder = folder_at(data_dir)
    try:
        declared = collecting.read_declaration(file)
        with ground(folder) as found:
            _say("Starting the services ..." if found.foundation else "Using the services that run ...")
            if dry_run:
                _tell_estimate(asyncio.run(_estimate(found, declared)), declared, json_file)
                return
            whole = _collect(found, folder, declared, json_file, export, anew=anew)
    except DeclarationFaulty as faulty:
        screen.print("[red]Error:[/red]", highlight=False)
        screen.print(faulty.detail, markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(_WRONG_USAGE) from faulty
    if not whole:
        raise typer.Exit(1)


def _collect(
    found: Ground, folder: DataFolder, declared: Declared, json_file: Path | None, export: Path | None, *, anew: bool
) -> bool:
    try:
        seen, result = asyncio.run(_hold(found, folder, declared, export, anew=anew))
    except KeyboardInterrupt:
        goes_on = "goes on" if found.foundation is None else f"stays as it is in {folder.path}"
        _say(f"Stopped. What was begun {goes_on}; the same command takes it up again.")
        raise typer.Exit(_INTERRUPTED) from None
    write_json(json_file, result)
    return seen.is_whole


async def _hold(
    found: Ground, folder: DataFolder, declared: Declared, export: Path | None, *, anew: bool
) -> tuple[Sight, dict[str, Any]]:
    async with connect(found) as clients:
        begun = await collecting.begin(clients, folder, declared, anew=anew)
        _say(f"Collection {begun.collection.id}{'' if begun.anew else ', begun before: going on with it'}")
        started = time.monotonic()
        with watching() as show:
            seen = await collecting.follow(clients.conversations, begun, show)
        seconds = time.monotonic() - started
        if export is not None:
            _say(f"Exported: {await collecting.export(clients.conversations, seen.collection.id, export)}")
        turns = seen.collection.turns - begun.collection.turns
        return seen, collecting.account(declared, seen, turns=turns, seconds=seconds)


async def _estimate(found: Ground, declared: Declared) -> dict[str, Any]:
    async with connect(found) as clients:
        return await collecting.estimate(clients, declared)


def _tell_estimate(estimate: dict[str, Any], declared: Declared, json_file: Path | None) -> None:
    write_json(json_file, {"file": str(declared.file.path), "estimate": estimate})
    if str(json_file) == "-":
        return
    _say(f"{estimate['conversations']} conversations, {estimate['turns']} replies of bots")
    if estimate["seconds"] is None:
        _say("time: unknown, as not every bot was probed yet")
    else:
        _say(f"time: {estimate['seconds']:.1f} s at best; {estimate['slowest_bot']} decides it")


def _say(line: str) -> None:
    screen.print(line, markup=False, highlight=False, soft_wrap=True)
