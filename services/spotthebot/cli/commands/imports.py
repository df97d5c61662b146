"""`stb import spot-the-bot` and `stb import export`: import published data, and the exports of a suite."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from spotthebot.cli.commands.options import JsonFile, Source, check_output, write_json
from spotthebot.cli.commands.rejected_rows import print_counts, print_rejected
from spotthebot.cli.commands.service_options import takes_services
from spotthebot.contracts.conversations.collections import CollectionOut
from spotthebot.contracts.conversations.exports import ImportedOut
from spotthebot.importers.campaign_exports import ExportedCampaign, import_campaign, read_exported_campaign
from spotthebot.importers.conversation_exports import import_export, open_export
from spotthebot.importers.dump_import import Imported, import_dump
from spotthebot.importers.published_dump.dump import open_dump
from spotthebot.local.progress import screen, showing_progress
from spotthebot.local.runtime.session import Services, connect, open_session
from spotthebot.readers.rejected import Rejected

_EXPORT = "export"


@takes_services
def import_published(
    services: Services,
    path: Annotated[Path, typer.Argument(help="Folder of the published files, or the zip.")],
    domain: Annotated[str, typer.Option(help="dailydialog, empathetic, or convai2 (PersonaChat).")],
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
    """Print the counts of the import, and the name or id by which `stb rank` finds the campaign."""
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


def _print_import(imported: Imported, ranked: str) -> None:
    print_counts(imported)
    print_rejected(imported.rejected)
    screen.print(f"Rank it: ./stb rank {ranked}", highlight=False)
