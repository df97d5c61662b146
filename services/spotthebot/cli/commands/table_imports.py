"""`stb import conversations` and `stb import labels`: import tables that other tools wrote."""

import shlex
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from spotthebot.cli.commands.options import JsonFile, check_output, write_json
from spotthebot.cli.commands.rejected_rows import listing_rejected, print_counts, print_rejected
from spotthebot.cli.commands.resource_commands import ask
from spotthebot.cli.commands.service_options import takes_services
from spotthebot.cli.commands.table_options import (
    AllowRejectedOption,
    DomainOption,
    MapOption,
    MappedTable,
    PeopleOption,
    ValuesOption,
    YesOption,
    confirm,
    map_table,
    read_words,
    sha256_of,
    show_mapping,
)
from spotthebot.cli.errors import NoLabels
from spotthebot.cli.resources.directories import Collections
from spotthebot.cli.resources.resolver import find
from spotthebot.contracts.conversations.collections import CollectionOut
from spotthebot.contracts.conversations.conversations import ConversationIn
from spotthebot.contracts.plugins import PluginGroup
from spotthebot.importers.dump_import import Imported
from spotthebot.importers.plugins import read_by_plugin
from spotthebot.importers.table_import import (
    LabelImport,
    import_conversations,
    import_labels,
    import_logs,
    known_conversations,
)
from spotthebot.kit.plugins import Plugin, find_plugin
from spotthebot.local.progress import say, showing_progress
from spotthebot.local.runtime.session import Clients, Services
from spotthebot.readers.files.cells import shown
from spotthebot.readers.human_bot_logs import EVAL_SCORE, LogReader
from spotthebot.readers.meanings.columns import COMPARED, Kind
from spotthebot.readers.rejected import Rejected
from spotthebot.readers.tables import ConversationReader, Reading, open_conversations, tally_of

_DOMAIN = "imported"


@takes_services
def import_table_of_conversations(
    services: Services,
    path: Annotated[Path, typer.Argument(help="CSV, TSV, JSON Lines or JSON.")],
    map_: MapOption = None,
    people: PeopleOption = None,
    leave_out: Annotated[
        list[str] | None, typer.Option(help="Role that is no speaker: --leave-out system --leave-out tool.")
    ] = None,
    bot: Annotated[
        list[str] | None,
        typer.Option(help="Of chats in ConvAI2's form: NAME of a bot without a name, or ID=NAME to rename one."),
    ] = None,
    plugin: Annotated[
        str | None,
        typer.Option(metavar="NAME", help='Read the file by this plug-in: see "Plug-ins" in the documentation.'),
    ] = None,
    allow_rejected: AllowRejectedOption = False,
    yes: YesOption = False,
    name: Annotated[str | None, typer.Option(help="Of the collection; without it, the file's name.")] = None,
    domain: DomainOption = _DOMAIN,
    json_file: JsonFile = None,
) -> None:
    """Import conversations from a table with a row for each turn, or with all turns in one object."""
    check_output(json_file)
    if plugin is not None:
        found = find_plugin(PluginGroup.IMPORTERS, plugin)
        _import(services, partial(read_by_plugin, found, path), name or path.stem, domain, json_file, found)
        return
    collection_name = name or path.stem
    reading = Reading(collection_name, domain, map_ or (), people or (), leave_out or (), bot or ())
    reader = open_conversations(path, reading)
    if isinstance(reader, ConversationReader) and reader.mapping is not None:
        mapped = MappedTable(reader.table, reader.mapping, reader.words)
        show_mapping(mapped)
        confirm(mapped, yes=yes)
    if not allow_rejected:
        with listing_rejected():
            tally_of(reader.table, reader.read()).require_most(ranked=False)
    if isinstance(reader, LogReader):
        _import_logs(services, reader, json_file)
    else:
        _import(services, reader.read, collection_name, domain, json_file)


def _import(
    services: Services,
    read: Callable[[], Iterator[ConversationIn | Rejected]],
    name: str,
    domain: str,
    json_file: Path | None,
    plugin: Plugin | None = None,
) -> None:
    async def work(clients: Clients) -> tuple[CollectionOut, Imported]:
        with showing_progress() as steps:
            return await import_conversations(clients, read(), name, domain, steps)

    collection, done = ask(services, work)
    source = "conversations" if plugin is None else f"{plugin.name} of {plugin.distribution}"
    write_json(json_file, {"source": source, "collection": collection.model_dump(mode="json"), **done.counts})
    if str(json_file) != "-":
        print_counts(done)
        print_rejected(done.rejected)
        say(f"Collection: {collection.name} ({collection.id})")


def _import_logs(services: Services, logs: LogReader, json_file: Path | None) -> None:
    async def work(clients: Clients) -> tuple[CollectionOut, Imported, int]:
        with showing_progress() as steps:
            return await import_logs(clients, logs.read(), logs.collection, logs.domain, steps)

    collection, done, ratings = ask(services, work)
    collection_json = collection.model_dump(mode="json")
    write_json(json_file, {"source": "conversations", "collection": collection_json, **done.counts, "ratings": ratings})
    if str(json_file) != "-":
        print_counts(done)
        say(f"ratings: {ratings} by {EVAL_SCORE}, as ratings of chats")
        print_rejected(done.rejected)
        say(f"Collection: {collection.name} ({collection.id})")


@takes_services
def import_table_of_labels(
    services: Services,
    path: Annotated[
        Path,
        typer.Argument(help="CSV, TSV, JSON Lines, an export of Label Studio, Argilla or Potato (its folder too)."),
    ],
    map_: MapOption = None,
    values: ValuesOption = None,
    people: PeopleOption = None,
    collection: Annotated[
        str | None,
        typer.Option(help="Name or id of the collection that has the conversations; without it, none has a text."),
    ] = None,
    allow_rejected: AllowRejectedOption = False,
    yes: YesOption = False,
    name: Annotated[str | None, typer.Option(help="Of the campaign; without it, the file's name.")] = None,
    domain: DomainOption = _DOMAIN,
    json_file: JsonFile = None,
) -> None:
    """Import people's labels of the sides of conversations, as a campaign that can be ranked."""
    check_output(json_file)
    words = read_words(values, people)
    known = frozenset({"side_a", "side_b"} if collection else ())
    mapped = map_table(path, (Kind.LABELS, Kind.SIDES, *COMPARED), map_, words, known=known)
    show_mapping(mapped)
    if mapped.mapping.kind in COMPARED:
        raise NoLabels(file=path.name, kind=mapped.mapping.kind, path=shlex.quote(str(path)))
    confirm(mapped, yes=yes)
    said = f"Imported from {shown(path.name)} with {mapped.mapping.option}, SHA-256 {sha256_of(path, values, people)}"

    async def work(clients: Clients) -> Imported:
        found = await find(Collections(clients), collection) if collection else None
        source = LabelImport(
            table=mapped.table,
            mapping=mapped.mapping,
            words=words,
            name=name or path.stem,
            domain=domain if found is None else found.domain,
            said=said,
            collection=found,
            known=None if found is None else await known_conversations(clients, found),
            allow_rejected=allow_rejected,
        )
        with showing_progress() as steps:
            return await import_labels(clients, source, steps)

    with listing_rejected():
        done = ask(services, work)
    write_json(json_file, {"source": "labels", **done.summary})
    if str(json_file) != "-":
        print_counts(done)
        print_rejected(done.rejected)
        say(f"Rank it: ./stb rank {shlex.quote(done.campaign)}")
