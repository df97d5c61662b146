"""`stb partners`: makes, exports, imports and measures partner sets of bipartite-play."""

from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
from rich.console import Console
from rich.table import Column, Table

from spotthebot.cli.commands.options import NAMED, JsonFile, check_output, write_json
from spotthebot.cli.commands.resource_commands import ask
from spotthebot.cli.commands.service_options import takes_services
from spotthebot.cli.errors import NoScores
from spotthebot.cli.evaluations.partner_sets import (
    DIVERSE,
    export_partner_set,
    find_partner_bots,
    find_partner_set,
    import_partner_set,
    measure_diversity,
    read_configurations,
    read_partner_file,
    store_partner_set,
)
from spotthebot.cli.resources.directories import Collections, Corpora
from spotthebot.cli.resources.resolver import find
from spotthebot.contracts.conversations.collections import CollectionOut
from spotthebot.contracts.conversations.partner_sets import PartnerSetOut
from spotthebot.contracts.fed.score_jobs import ScoreJobState
from spotthebot.contracts.partner_files import PartnerSetFile, fingerprint_of
from spotthebot.local.progress import say
from spotthebot.local.runtime.session import Clients, Services
from spotthebot.statistics.reply_overlap import ReplyDiversity

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the partner set.")]
Version = Annotated[int | None, typer.Option(min=1, help="Its version; else the latest.")]


@takes_services
def create(
    services: Services,
    name: Name,
    bots: Annotated[
        list[str] | None,
        typer.Argument(help="Names of bots, built-in models, or MODEL:SEED; nothing: all built-in models in variants."),
    ] = None,
    description: Annotated[str, typer.Option(help="What the set is for.")] = "",
) -> None:
    """Store bots as a partner set, or a new version of it."""

    async def store(clients: Clients) -> tuple[PartnerSetOut, str]:
        chosen = await find_partner_bots(clients, bots or DIVERSE)
        made = await store_partner_set(clients, name, description, chosen)
        return made, fingerprint_of(await read_configurations(clients, made))

    _say(*ask(services, store))


@takes_services
def export(
    services: Services,
    name: Name,
    file: Annotated[Path, typer.Argument(help="JSON file to write, '-' for the screen.")],
    version: Version = None,
    reference: Annotated[
        list[str] | None,
        typer.Option(metavar="COLLECTION", help="A scored collection whose bots others rank theirs beside. Repeat."),
    ] = None,
) -> None:
    """Write a partner set to a file, without secrets."""
    check_output(file)

    async def read(clients: Clients) -> PartnerSetFile:
        found = await find_partner_set(clients, name, version)
        collections = [await find(Collections(clients), each) for each in reference or ()]
        sets = [await _latest_scores(clients, each) for each in collections]
        return await export_partner_set(clients, found, sets)

    write_json(file, ask(services, read).model_dump(mode="json"))


@takes_services
def import_file(
    services: Services,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="File of a partner set.")],
    corpus: Annotated[
        str | None, typer.Option(help=f"{NAMED} the corpus that built-in bots learn from; else the sample.")
    ] = None,
) -> None:
    """Store the partner set of a file, and register its bots."""
    read = read_partner_file(file)

    async def store(clients: Clients) -> tuple[PartnerSetOut, str]:
        corpus_id = None if corpus is None else (await find(Corpora(clients), corpus)).id
        made = await import_partner_set(clients, read, corpus_id)
        return made, fingerprint_of(await read_configurations(clients, made))

    _say(*ask(services, store))


@takes_services
def diversity(
    services: Services,
    name: Name,
    collection: Annotated[str, typer.Argument(help=f"{NAMED} a collection of bipartite-play with these partners.")],
    version: Version = None,
    json_file: JsonFile = None,
) -> None:
    """Show how much the replies of partners overlap."""
    check_output(json_file)

    async def measure(clients: Clients) -> ReplyDiversity:
        found = await find_partner_set(clients, name, version)
        return await measure_diversity(clients, found, (await find(Collections(clients), collection)).id)

    found = ask(services, measure)
    write_json(
        json_file,
        {
            "own": dict(found.own),
            "pairs": [vars(each) for each in found.pairs],
            "mean_overlap": found.mean_overlap,
            "effective_bots": found.effective_bots,
            "method": found.method,
        },
    )
    if str(json_file) != "-":
        table = Table("Partner", "Most like", Column("Overlap", justify="right"), Column("Own halves", justify="right"))
        for bot, own in found.own.items():
            pair = next((each for each in found.pairs if bot in {each.first, each.second}), None)
            other = "-" if pair is None else pair.second if pair.first == bot else pair.first
            table.add_row(bot, other, "-" if pair is None else f"{pair.overlap:.3f}", f"{own:.3f}")
        console = Console()
        console.print(table)
        said = f"{len(found.own)} partners, as diverse as {found.effective_bots:.1f} that say nothing alike."
        console.print(said, highlight=False)


def _say(made: PartnerSetOut, fingerprint: str) -> None:
    say(f"Partner set '{made.name}', version {made.version}, {len(made.partners)} bots, fingerprint {fingerprint}")


async def _latest_scores(clients: Clients, collection: CollectionOut) -> UUID:
    """Return the latest complete score set of a collection; raises NoScores."""
    jobs = [each async for each in clients.fed.list_score_jobs(collection_id=collection.id)]
    complete = [each.id for each in jobs if each.state is ScoreJobState.COMPLETE]
    if not complete:
        raise NoScores(collection=collection.name)
    return complete[-1]
