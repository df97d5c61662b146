"""`stb demo`, `import`: studies from the command line."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from spotthebot.suite import ranking
from spotthebot.suite.cli.options import (
    DEFAULT_DATA_DIR,
    DataDir,
    JsonFile,
    Source,
    check_output,
    folder_at,
    print_rejected,
    write_json,
)
from spotthebot.suite.data_folder import DataFolder
from spotthebot.suite.demo import run_demo
from spotthebot.suite.errors import JobFailed
from spotthebot.suite.importing import Imported, import_dump
from spotthebot.suite.progress import screen, showing_progress
from spotthebot.suite.published_dump import open_dump
from spotthebot.suite.session import Ground, connect, ground


def demo(
    json_file: JsonFile = None,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the services running afterwards.")] = False,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Same seed: same ranking.")] = 7,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """See it all: bots converse, simulated annotators judge, the ranking comes out."""
    check_output(json_file)
    folder = folder_at(data_dir)
    if keep and folder.holder() is None:
        _start_in_background(folder)
    with ground(folder) as found:
        results, urls = asyncio.run(_demo(found, seed))
    results |= {"read_at": {name: f"{url}/v1" for name, url in urls.items()} if found.foundation is None else {}}
    write_json(json_file, results)
    if str(json_file) != "-":
        _print_demo(results, urls, data_dir, running=found.foundation is None)


def import_study(
    source: Annotated[Source, typer.Argument(help="Form of the data.")],
    path: Annotated[Path, typer.Argument(help="Folder of the published files, or the zip.")],
    domain: Annotated[str, typer.Option(help="dailydialog, empathetic or convai2.")],
    json_file: JsonFile = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Import a published study; a second import changes nothing, an interrupted one goes on."""
    check_output(json_file)
    folder = folder_at(data_dir)
    with open_dump(path, domain) as dump, ground(folder) as found:

        async def run() -> Imported:
            async with connect(found) as clients:
                with showing_progress() as steps:
                    return await import_dump(clients, dump, steps)

        imported = asyncio.run(run())
    summary = {"source": source.value, **imported.summary}
    write_json(json_file, summary)
    if str(json_file) != "-":
        _print_import(imported)


async def _demo(found: Ground, seed: int) -> tuple[dict[str, Any], dict[str, str]]:
    screen.print("Starting the services ..." if found.foundation else "Using the services that run ...")
    async with connect(found) as clients:
        with showing_progress() as steps:
            return await run_demo(clients, steps, seed=seed), clients.urls


def _start_in_background(folder: DataFolder) -> None:
    """Start `stb up` apart from us and return once it holds the folder; raises JobFailed if it gives up first."""
    folder.create()
    command = [sys.executable, "-m", "spotthebot.suite", "up", "--quiet", "--data-dir", str(folder.path)]
    log_file = folder.logs / "suite.log"
    with log_file.open("ab") as log:
        start = log.tell()
        child = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)  # noqa: S603 - our own command
    while folder.read_state() is None:
        if child.poll() is not None:
            said = log_file.read_bytes()[start:].decode(errors="replace").split("\n")
            raise JobFailed(what="Starting the suite", reason=" ".join(line.strip() for line in said).strip())
        time.sleep(0.1)


def _print_demo(results: dict[str, Any], urls: dict[str, str], data_dir: Path, *, running: bool) -> None:
    console = Console()
    ranking.print_ranking(console, results)
    console.print(
        "The labels come from [bold]simulated annotators[/bold] that follow a written rule over the text;"
        " they stand in for people, and so do the sample dialogues written for this project. The ranking shows"
        " that the machinery works, not how people would judge."
    )
    campaign = results["campaign_id"]
    if running:
        console.print(f"Read it again: {urls['analytics']}/v1/campaigns/{campaign}/ranking (key: ./stb keys create)")
        console.print("The services are running: ./stb status, ./stb down")
    else:
        console.print(f"Read it again: ./stb rank {campaign} --data-dir {data_dir}, or over REST after ./stb up")


def _print_import(imported: Imported) -> None:
    for kind, read in imported.read.items():
        stored, known = imported.stored[kind], imported.already_there[kind]
        screen.print(f"{kind}: {read} read, {stored} stored, {known} there already")
    print_rejected(imported.rejected)
    screen.print(f"Rank it: ./stb rank {imported.campaign}")
