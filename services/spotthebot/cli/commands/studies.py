"""`stb demo`, `import`: studies from the command line."""

import asyncio
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from spotthebot.cli.commands.fed_tables import bot_scores_table
from spotthebot.cli.commands.keys import make_key
from spotthebot.cli.commands.options import DEFAULT_DATA_DIR, JsonFile, Source, check_output, say_session, write_json
from spotthebot.cli.commands.rejected_rows import print_counts, print_rejected
from spotthebot.cli.commands.service_options import takes_services
from spotthebot.cli.studies import ranking
from spotthebot.contracts.access import Role
from spotthebot.contracts.conversations.collections import CollectionOut
from spotthebot.contracts.conversations.exports import ImportedOut
from spotthebot.contracts.fed.score_jobs import ScoreSetOut
from spotthebot.contracts.services import DEFAULT_PORT_BASE, get_service
from spotthebot.importers.campaign_exports import ExportedCampaign, read_exported_campaign
from spotthebot.importers.campaign_import import import_campaign
from spotthebot.importers.conversation_exports import import_export, open_export
from spotthebot.importers.dump_import import Imported, import_dump
from spotthebot.importers.published_dump import Rejected, open_dump
from spotthebot.kit.access.keys import parse_key
from spotthebot.local.demonstration.study import Demonstration, offer_package, run_demo
from spotthebot.local.errors import JobFailed
from spotthebot.local.progress import say, screen, showing_progress
from spotthebot.local.runtime.data_folder import DataFolder
from spotthebot.local.runtime.remote import Remote
from spotthebot.local.runtime.session import Services, Session, connect, open_session

_EXPORT = "export"
_DEMO_KEY_DAYS = 30


@takes_services
def demo(
    services: Services,
    json_file: JsonFile = None,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the services running afterwards.")] = False,
    port_base: Annotated[
        int | None, typer.Option(min=1, max=65000, help="With --keep: services listen on the ports that follow it.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Same seed: same ranking.")] = 7,
    frontend_key: Annotated[
        str | None,
        typer.Option(
            envvar="SPOTTHEBOT_FRONTEND_KEY",
            metavar="KEY",
            help="With --url: API key of the role annotation, with which the simulated annotators label.",
        ),
    ] = None,
) -> None:
    """See it all: bots converse, simulated annotators label, a ranking comes out."""
    check_output(json_file)
    services = _demonstrated(services, frontend_key, keep=keep)
    starts = keep and isinstance(services, DataFolder) and services.holder() is None
    if port_base is not None and not starts:
        message = "it needs --keep and no running suite: leave it out, or stop the suite first"
        raise typer.BadParameter(message, param_hint="--port-base")
    if isinstance(services, DataFolder) and starts:
        _start_in_background(services, port_base or DEFAULT_PORT_BASE)
    with open_session(services) as session:
        shown, urls, package = asyncio.run(_demo(session, seed))
    running = session.prepared is None
    result = {
        "simulated_annotators": True,
        "collection_id": str(shown.collection_id),
        "fed": None if shown.scores is None else shown.scores.model_dump(mode="json"),
        **shown.analysis.model_dump(mode="json"),
        "read_at": {name: f"{url}/v1" for name, url in urls.items()} if running else {},
    }
    write_json(json_file, result)
    if str(json_file) != "-":
        _print_demo(shown, urls, services, package)


def _demonstrated(services: Services, frontend_key: str | None, *, keep: bool) -> Services:
    """Return the services with both keys that the demonstration needs of those that run elsewhere."""
    if isinstance(services, DataFolder):
        return services
    if keep:
        message = "--keep is for a suite on this machine: leave it out, since services that run elsewhere keep running"
        raise typer.BadParameter(message)
    if not frontend_key or parse_key(frontend_key) is None:
        message = "with --url, annotators need a key of the role annotation: set SPOTTHEBOT_FRONTEND_KEY to it"
        raise typer.BadParameter(message)
    return replace(services, frontend_key=frontend_key)


@takes_services
def import_published(
    services: Services,
    path: Annotated[Path, typer.Argument(help="Folder of the published files, or the zip.")],
    domain: Annotated[str, typer.Option(help="dailydialog, empathetic or convai2.")],
    json_file: JsonFile = None,
) -> None:
    """Import the published Spot The Bot data."""
    check_output(json_file)
    _import_dump(path, domain, json_file, services)


@takes_services
def import_exported(
    services: Services,
    path: Annotated[
        Path, typer.Argument(help="The file conversations.jsonl, its folder, or the folder of an exported campaign.")
    ],
    name: Annotated[
        str | None,
        typer.Option(help="Of the collection, or of the campaign; without it, the name that it had."),
    ] = None,
    json_file: JsonFile = None,
) -> None:
    """Import a collection or a campaign that a suite exported."""
    check_output(json_file)
    if (exported := read_exported_campaign(path)) is None:
        _import_export(path, name, json_file, services)
    else:
        _import_campaign(path, exported, name, json_file, services)


def _import_dump(path: Path, domain: str, json_file: Path | None, services: Services) -> None:
    with open_dump(path, domain) as dump, open_session(services) as session:

        async def run() -> Imported:
            async with connect(session) as clients:
                with showing_progress() as steps:
                    return await import_dump(clients, dump, steps)

        imported = asyncio.run(run())
    _say_import(Source.SPOT_THE_BOT, imported, imported.campaign, json_file)


def _import_campaign(
    path: Path, exported: ExportedCampaign, name: str | None, json_file: Path | None, services: Services
) -> None:
    with open_session(services) as session:

        async def run() -> Imported:
            async with connect(session) as clients:
                with showing_progress() as steps:
                    return await import_campaign(clients, path, exported, name, steps)

        imported = asyncio.run(run())
    _say_import(_EXPORT, imported, imported.campaign_id, json_file)


def _say_import(source: str, imported: Imported, ranked: str, json_file: Path | None) -> None:
    """Say what was imported, and by which name or id it is ranked."""
    write_json(json_file, {"source": source, **imported.summary})
    if str(json_file) != "-":
        _print_import(imported, ranked)


def _import_export(path: Path, name: str | None, json_file: Path | None, services: Services) -> None:
    export = open_export(path)
    with open_session(services) as session:

        async def run() -> tuple[CollectionOut, ImportedOut]:
            async with connect(session) as clients:
                with showing_progress() as steps:
                    return await import_export(clients.conversations, export, name, steps)

        collection, done = asyncio.run(run())
    collection_json = collection.model_dump(mode="json")
    write_json(json_file, {"source": _EXPORT, "collection": collection_json, **done.model_dump(mode="json")})
    if str(json_file) != "-":
        screen.print(f"conversations: {done.read} read, {done.stored} stored, {done.already_there} there already")
        file = export.file.name
        print_rejected([Rejected(file, each.line, each.reason) for each in done.rejected.first], done.rejected.count)
        screen.print(f"Collection: {collection.id}", highlight=False)


async def _demo(session: Session, seed: int) -> tuple[Demonstration, dict[str, str], str | None]:
    """Return the results, the services' addresses and, where they go on running, the path of a package to label."""
    say_session(session)
    async with connect(session) as clients:
        with showing_progress() as steps:
            shown = await run_demo(clients, session.folder, steps, seed=seed)
            package = None if session.prepared else await offer_package(clients, shown, seed=seed)
            return shown, {**clients.urls, **_pages_of(session.services)}, package


def _pages_of(services: Services) -> dict[str, str]:
    """Return where the pages of services that run elsewhere are: at the address that the services stand below."""
    return {"web": services.url.rstrip("/")} if isinstance(services, Remote) and "{" not in services.url else {}


def _start_in_background(folder: DataFolder, port_base: int) -> None:
    """Start `stb up` apart from us and return once it holds the folder; raises JobFailed if it gives up first."""
    say("Starting the services ...")
    folder.create()
    command = [sys.executable, "-m", "spotthebot.cli", "up", "--data-dir", str(folder.path)]
    command += ["--port-base", str(port_base)]
    log_file = folder.logs / "suite.log"
    with log_file.open("ab") as log:
        start = log.tell()
        child = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)  # noqa: S603 - our own command
    while folder.read_state() is None:
        if child.poll() is not None:
            said = log_file.read_bytes()[start:].decode(errors="replace").rpartition("Error:")[2]
            raise JobFailed(what="Starting the suite", reason=" ".join(said.split()))
        time.sleep(0.1)


def _print_demo(shown: Demonstration, urls: dict[str, str], services: Services, package: str | None) -> None:
    """Print the results and where they are seen; `package` is None where the services have stopped."""
    console = Console()
    ranking.print_ranking(console, shown.analysis)
    console.print(
        "The labels come from [bold]simulated annotators[/bold] that follow a written rule over the text;"
        " they stand in for people, and so do the sample dialogues written for this project. The ranking shows"
        " that the machinery works, not how people would label."
    )
    if isinstance(services, DataFolder):
        _print_scores(console, shown.scores)

    def print_line(line: str) -> None:
        console.print(line, soft_wrap=True, highlight=False)

    place = _place(services)
    campaign = f"campaigns/{shown.analysis.campaign_id}"
    print_line(f"Read it again: ./stb rank {shown.analysis.campaign}{place}")
    if package is None:
        print_line(
            f"See it in the browser: ./stb up{place}, and open http://127.0.0.1:{get_service('web').port}/{campaign}"
        )
        return
    print_line(f"Over REST: {urls['analytics']}/v1/{campaign}/ranking")
    if "web" in urls:
        console.print("\n[bold]In the browser[/bold]")
        print_line(f"The dashboard: {urls['web']}/{campaign}")
        print_line(f"  Sign in with {_key_for_results(services)}")
        print_line(f"Label five dialogues yourself, no key needed: {urls['web']}{package}")
    if isinstance(services, DataFolder):
        print_line(f"\nThe services are running: ./stb status{place}, ./stb down{place}")


def _place(services: Services) -> str:
    """Return the option by which a command finds the services."""
    if isinstance(services, Remote):
        return f" --url {services.url}"
    return "" if services.path == DEFAULT_DATA_DIR.resolve() else f" --data-dir {services.path}"


def _key_for_results(services: Services) -> str:
    if isinstance(services, Remote):
        return "a key of the role analyst, or this one"
    _, key = make_key(services.path, Role.ANALYST, days=_DEMO_KEY_DAYS, note="of ./stb demo --keep, to look at results")
    return f"this key, which reads results for {_DEMO_KEY_DAYS} days: {key}"


def _print_scores(console: Console, scores: ScoreSetOut | None) -> None:
    if scores is None:
        console.print("FED, by which a language model rates the bots, needs torch: ./stb install models")
        return
    (overall,) = scores.dimensions
    console.print(bot_scores_table(overall, "FED of the same dialogues, overall"))
    r2 = None if overall.baseline is None else overall.baseline.r2
    explained = "" if r2 is None else f" Length alone explains {r2:.0%} of the scores' variance."
    console.print(
        "A tiny scorer, trained on the sample corpus in seconds, knows little of quality:"
        f" beside each score stands what the length of the dialogues alone says.{explained}"
    )


def _print_import(imported: Imported, ranked: str) -> None:
    print_counts(imported)
    print_rejected(imported.rejected)
    screen.print(f"Rank it: ./stb rank {ranked}", highlight=False)
