"""`stb collect`: runs a collection that a file declares."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spotthebot.cli.collections import run
from spotthebot.cli.collections.declaration_file import (
    ChatsDeclaration,
    ChatsDeclared,
    CollectionDeclared,
    CollectionFile,
    read_collection_file,
)
from spotthebot.cli.collections.participants import Approve, print_warnings
from spotthebot.cli.collections.run import CollectionProgress
from spotthebot.cli.commands.collection_control import EXPORT_TARGET, check_target
from spotthebot.cli.commands.collection_display import showing_collection
from spotthebot.cli.commands.declarations import Schema, declaration_faults, print_schema, required
from spotthebot.cli.commands.options import JsonFile, check_output, say_session, write_json
from spotthebot.cli.commands.questions import confirmed, is_interactive
from spotthebot.cli.commands.service_options import takes_services
from spotthebot.cli.resources.reach import reach
from spotthebot.contracts.conversations.collections import BotWarningOut, CollectionState, EstimateOut
from spotthebot.local.progress import say, say_repeated_texts
from spotthebot.local.runtime.session import Services, Session, connect, open_session

if TYPE_CHECKING:
    from spotthebot.contracts.analytics.analyses import ReachOut

_INTERRUPTED = 130


@takes_services
def collect(
    services: Services,
    file: Annotated[
        Path | None,
        typer.Argument(
            exists=True,
            dir_okay=False,
            help='YAML file that declares the collection: see "Collect conversations" in the documentation.',
        ),
    ] = None,
    json_file: JsonFile = None,
    export: Annotated[
        Path | None, typer.Option("--export", help=f"At the end, write the conversations {EXPORT_TARGET}.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what it would cost and start nothing.")] = False,
    restart: Annotated[
        bool, typer.Option("--restart", help="Start a new collection even if this file was collected before.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Start with a failing bot, too, without asking.")] = False,
    schema: Schema = False,
) -> None:
    """Run a collection of conversations that a file declares, or open it for people who chat.

    A second run with the same file continues where it stopped.
    """
    if schema:
        print_schema(CollectionFile)
        return
    path = required(file)
    check_output(json_file)
    if export is not None:
        check_target(export)
    with declaration_faults():
        declared = read_collection_file(path)
        if isinstance(declared.request, ChatsDeclaration) and (dry_run or export is not None):
            message = "--dry-run and --export are for conversations between bots, and this file opens chats for people"
            raise typer.BadParameter(message)
        with open_session(services) as session:
            say_session(session)
            if isinstance(declared.request, ChatsDeclaration):
                write_json(json_file, asyncio.run(_open_chats(session, declared, restart=restart)))
                return
            if dry_run:
                estimate, reached = asyncio.run(_estimate(session, declared))
                _print_estimate(estimate, reached, declared, json_file)
                return
            approve = print_warnings if yes or not is_interactive() else _ask
            whole = _collect(session, declared, json_file, export, restart=restart, approve=approve)
    if not whole:
        raise typer.Exit(1)


def _collect(
    session: Session,
    declared: CollectionDeclared,
    json_file: Path | None,
    export: Path | None,
    *,
    restart: bool,
    approve: Approve,
) -> bool:
    try:
        running = _run_collection(session, declared, export, restart=restart, approve=approve)
        progress, result = asyncio.run(running)
    except KeyboardInterrupt:
        goes_on = "goes on" if session.prepared is None else "stays as it is in the data folder"
        say(f"Stopped. The collection {goes_on}; the same command takes it up again.")
        raise typer.Exit(_INTERRUPTED) from None
    write_json(json_file, result)
    return progress.is_whole


async def _run_collection(
    session: Session, declared: CollectionDeclared, export: Path | None, *, restart: bool, approve: Approve
) -> tuple[CollectionProgress, dict[str, Any]]:
    async with connect(session) as clients:
        started = await run.start(clients, session.folder, declared, restart=restart, approve=approve)
        say(f"Collection {started.collection.id}{'' if started.is_new else ', started before: going on with it'}")
        began = time.monotonic()
        with showing_collection() as show:
            progress = await run.follow(clients.conversations, started, show)
        seconds = time.monotonic() - began
        if export is not None:
            say(f"Exported: {await run.export(clients.conversations, progress.collection.id, export)}")
        repeated = await run.repeated_texts(clients.conversations, progress.collection.id)
        say_repeated_texts(repeated)
        turns = progress.collection.turns - started.collection.turns
        return progress, run.account(declared, progress, repeated, turns=turns, seconds=seconds)


async def _open_chats(session: Session, declared: ChatsDeclared, *, restart: bool) -> dict[str, Any]:
    async with connect(session) as clients:
        started = await run.start(clients, session.folder, declared, restart=restart)
    collection = started.collection
    say(f"Collection {collection.id}{'' if started.is_new else f', opened before: {collection.state}'}")
    if collection.state is CollectionState.COLLECTING:
        say(f"Make links for people on the page /chats/{collection.id}/links.")
    return {
        "file": str(declared.file.path),
        "file_sha256": declared.sha256,
        "collection": collection.model_dump(mode="json"),
    }


async def _estimate(session: Session, declared: CollectionDeclared) -> "tuple[EstimateOut, ReachOut | None]":
    async with connect(session) as clients:
        estimate = await run.estimate(clients, declared)
        asked = declared.request
        bots = len(asked.bots) if asked.mode == "all_play_all" else 0
        pairs, conversations = bots * (bots - 1) // 2, asked.conversations_per_pair
        return estimate, await reach(clients, pairs=pairs, conversations=conversations)


async def _ask(warnings: Sequence[BotWarningOut]) -> None:
    """Print the warnings. If a bot is failing, ask a person, and start the collection only if the answer is yes."""
    await print_warnings(warnings)
    if any(each.kind == "failing" for each in warnings) and not await confirmed("Start all the same?"):
        say("Nothing was started.")
        raise typer.Exit(1)


def _print_estimate(
    estimate: EstimateOut, reached: "ReachOut | None", declared: CollectionDeclared, json_file: Path | None
) -> None:
    document = {
        "file": str(declared.file.path),
        "estimate": estimate.model_dump(mode="json"),
        "reach": None if reached is None else reached.model_dump(mode="json"),
    }
    write_json(json_file, document)
    if str(json_file) == "-":
        return
    say(f"{estimate.conversations} conversations, {estimate.turns} replies of bots")
    if estimate.too_short:
        say(f"{estimate.too_short} human dialogues are too short to be drawn")
    if estimate.seconds is None:
        say("time: unknown, as not every bot was probed yet")
    else:
        say(f"time: {estimate.seconds:.1f} s at best; {estimate.slowest_bot} decides it")
    if reached is not None:
        say(reached.sentence)
