"""`stb import conversations`, `stb import labels`: what other tools wrote, from the command line."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from spotthebot.contracts.conversations import CollectionOut
from spotthebot.suite.cli.options import JsonFile, check_output, write_json
from spotthebot.suite.cli.rejected_rows import print_counts, print_rejected
from spotthebot.suite.cli.service_options import takes_services
from spotthebot.suite.cli.table_options import (
    DomainOption,
    MapOption,
    PeopleOption,
    YesOption,
    confirm,
    map_table,
    read_words,
    show_mapping,
)
from spotthebot.suite.progress import screen, showing_progress
from spotthebot.suite.runtime.session import Services, connect, open_session
from spotthebot.suite.studies.dump_import import Imported
from spotthebot.suite.studies.table_import import import_conversations
from spotthebot.suite.tables.columns import Kind
from spotthebot.suite.tables.conversations import holds_turns, read_conversations, read_whole_conversations
from spotthebot.suite.tables.rows import open_table

_DOMAIN = "imported"


@takes_services
def import_table_of_conversations(
    services: Services,
    path: Annotated[Path, typer.Argument(help="CSV, TSV, JSON Lines or JSON.")],
    map_: MapOption = None,
    people: PeopleOption = None,
    yes: YesOption = False,
    name: Annotated[str | None, typer.Option(help="Of the collection; without it, the file's name.")] = None,
    domain: DomainOption = _DOMAIN,
    json_file: JsonFile = None,
) -> None:
    """Import conversations of a table: a row for each turn, or an object with all turns."""
    check_output(json_file)
    words = read_words(None, people)
    table = open_table(path)
    if (turns := holds_turns(table)) is not None:
        conversations = read_whole_conversations(table, turns, words)
    else:
        mapped = map_table(path, (Kind.TURNS,), map_, words)
        show_mapping(mapped)
        confirm(mapped, yes=yes)
        conversations = read_conversations(mapped.table, mapped.mapping, words)
    with open_session(services) as session:

        async def run() -> tuple[CollectionOut, Imported]:
            async with connect(session) as clients:
                with showing_progress() as steps:
                    return await import_conversations(clients, conversations, name or path.stem, domain, steps)

        collection, done = asyncio.run(run())
    write_json(json_file, {"source": "conversations", "collection": collection.model_dump(mode="json"), **done.counts})
    if str(json_file) != "-":
        print_counts(done)
        print_rejected(done.rejected)
        screen.print(f"Collection: {collection.name} ({collection.id})", highlight=False, markup=False)
