"""`stb collect`: run a collection that a file declares."""

import asyncio
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from spotthebot.contracts.conversations import EstimateOut
from spotthebot.suite import collections
from spotthebot.suite.cli.collection_display import showing_collection
from spotthebot.suite.cli.options import (
    DEFAULT_DATA_DIR,
    DataDir,
    JsonFile,
    check_folder,
    check_output,
    folder_at,
    write_json,
)
from spotthebot.suite.collections import CollectionProgress, DeclarationFaulty, Declared
from spotthebot.suite.progress import screen
from spotthebot.suite.runtime.data_folder import DataFolder
from spotthebot.suite.runtime.session import Session, connect, open_session

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
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what it would cost and start nothing.")] = False,
    restart: Annotated[
        bool, typer.Option("--restart", help="Start a new collection even if this file was collected before.")
    ] = False,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of the file's form.")] = False,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Run a collection of conversations that a file declares; the same file again goes on where it stopped."""
    if schema:
        sys.stdout.write(collections.schema_text() + "\n")
        return
    if file is None:
        message = "name a file, or --schema"
        raise typer.BadParameter(message)
    check_output(json_file)
    if export is not None:
        check_folder(export)
    folder = folder_at(data_dir)
    try:
        declared = collections.read_declaration(file)
        with open_session(folder) as session:
            _say("Starting the services ..." if session.prepared else "Using the services that run ...")
            if dry_run:
                _print_estimate(asyncio.run(_estimate(session, declared)), declared, json_file)
                return
            whole = _collect(session, folder, declared, json_file, export, restart=restart)
    except DeclarationFaulty as faulty:
        screen.print("[red]Error:[/red]", highlight=False)
        screen.print(faulty.detail, markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(_WRONG_USAGE) from faulty
    if not whole:
        raise typer.Exit(1)


def _collect(
    session: Session,
    folder: DataFolder,
    declared: Declared,
    json_file: Path | None,
    export: Path | None,
    *,
    restart: bool,
) -> bool:
    try:
        progress, result = asyncio.run(_run_collection(session, folder, declared, export, restart=restart))
    except KeyboardInterrupt:
        goes_on = "goes on" if session.prepared is None else f"stays as it is in {folder.path}"
        _say(f"Stopped. The collection {goes_on}; the same command takes it up again.")
        raise typer.Exit(_INTERRUPTED) from None
    write_json(json_file, result)
    return progress.is_whole


async def _run_collection(
    session: Session, folder: DataFolder, declared: Declared, export: Path | None, *, restart: bool
) -> tuple[CollectionProgress, dict[str, Any]]:
    async with connect(session) as clients:
        started = await collections.start(clients, folder, declared, restart=restart)
        _say(f"Collection {started.collection.id}{'' if started.is_new else ', started before: going on with it'}")
        began = time.monotonic()
        with showing_collection() as show:
            progress = await collections.follow(clients.conversations, started, show)
        seconds = time.monotonic() - began
        if export is not None:
            _say(f"Exported: {await collections.export(clients.conversations, progress.collection.id, export)}")
        turns = progress.collection.turns - started.collection.turns
        return progress, collections.account(declared, progress, turns=turns, seconds=seconds)


async def _estimate(session: Session, declared: Declared) -> EstimateOut:
    async with connect(session) as clients:
        return await collections.estimate(clients, declared)


def _print_estimate(estimate: EstimateOut, declared: Declared, json_file: Path | None) -> None:
    write_json(json_file, {"file": str(declared.file.path), "estimate": estimate.model_dump(mode="json")})
    if str(json_file) == "-":
        return
    _say(f"{estimate.conversations} conversations, {estimate.turns} replies of bots")
    if estimate.too_short:
        _say(f"{estimate.too_short} human dialogues are too short to be drawn")
    if estimate.seconds is None:
        _say("time: unknown, as not every bot was probed yet")
    else:
        _say(f"time: {estimate.seconds:.1f} s at best; {estimate.slowest_bot} decides it")


def _say(line: str) -> None:
    screen.print(line, markup=False, highlight=False, soft_wrap=True)
