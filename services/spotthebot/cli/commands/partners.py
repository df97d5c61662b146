"""`stb partners`: makes, trains, exports, imports and measures partner sets of bipartite-play."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
from rich.console import Console
from rich.table import Column

from spotthebot.cli.commands.options import NAMED, JsonFile, check_output, write_json
from spotthebot.cli.commands.resource_commands import ask
from spotthebot.cli.commands.service_options import takes_services
from spotthebot.cli.commands.training import CORPUS, Seed, corpus_named
from spotthebot.cli.errors import NoScores
from spotthebot.cli.evaluations.partner_pool import FOLDER, compositions, register_pool, train_pool
from spotthebot.cli.evaluations.partner_sets import DIVERSE, find_partner_bots, find_partner_set, read_partner_file
from spotthebot.cli.resources.directories import Collections, Corpora
from spotthebot.cli.resources.resolver import find
from spotthebot.cli.results.tables import Table
from spotthebot.clients.partner_sets import (
    ask_partners,
    export_partner_set,
    import_partner_set,
    read_configurations,
    read_replies,
    store_partner_set,
)
from spotthebot.contracts.conversations.collections import CollectionOut
from spotthebot.contracts.conversations.partner_sets import PartnerSetOut
from spotthebot.contracts.fed.score_jobs import ScoreJobState
from spotthebot.contracts.partner_files import PartnerSetFile, fingerprint_of
from spotthebot.local import sample
from spotthebot.local.errors import NotWithUrl
from spotthebot.local.progress import Steps, say, showing_progress
from spotthebot.local.runtime.data_folder import DataFolder
from spotthebot.local.runtime.session import Clients, Services, Session, connect, open_session
from spotthebot.local.seeding import upload_sample
from spotthebot.statistics.reply_overlap import ReplyDiversity, reply_diversity

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the partner set.")]
_BUILT_IN = "diverse"
"""The set of built-in variants that the documentation makes."""
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
        return await _store(clients, name, description, chosen)

    _say(*ask(services, store))


@takes_services
def train(
    services: Services,
    name: Name,
    corpus: Annotated[str, typer.Option(help=CORPUS)] = sample.NAME,
    folder: Annotated[
        str, typer.Option(metavar="NAME", help="Folder of the models, in the services' folder of models.")
    ] = FOLDER,
    steps: Annotated[int, typer.Option(min=1, help="Batches after which each training ends at the latest.")] = 200,
    seed: Seed = 0,
    description: Annotated[str, typer.Option(help="What the set is for.")] = "Tiny trained models and built-in bots.",
) -> None:
    """Train a pool of tiny models in variants, store it with built-in bots as a partner set, and measure it."""
    if not isinstance(services, DataFolder):
        raise NotWithUrl(what="A pool", instead="or train models where the services run")
    data, models = corpus_named(corpus), services.path / "models"

    async def store(session: Session, shown: Steps) -> tuple[PartnerSetOut, str, dict[str, ReplyDiversity]]:
        async with connect(session) as clients:
            made, fingerprint = await _store(
                clients, name, description, await register_pool(clients, models, folder, shown)
            )
            built_in = await _store(clients, _BUILT_IN, "", await find_partner_bots(clients, DIVERSE))
            sets = {"trained": made, "built in": built_in[0]}
            return made, fingerprint, {each: await _ask(clients, found) for each, found in sets.items()}

    with open_session(services) as session, showing_progress() as shown:
        train_pool(models / folder, data, steps, seed, shown)
        made, fingerprint, found = asyncio.run(store(session, shown))
    _say(made, fingerprint)
    table = Table("Partners", *(Column(each, justify="right") for each in ("Bots", "Architectures", "Data", "Replies")))
    for each, composition in compositions().items():
        replies = f"{found[each].effective_bots:.1f}" if each in found else "unpublished"
        made_of = (f"{composition.architectures:.1f}", f"{composition.data:.1f}")
        table.add_row(each, str(composition.bots), *made_of, replies)
    Console().print(table, "As how many bots that have nothing in common a set is as diverse, by what.")


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
        return await export_partner_set(clients.bots, clients.fed, found, sets)

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

        async def learned_from() -> UUID:
            return corpus_id or await upload_sample(clients)

        made = await import_partner_set(clients.bots, clients.conversations, read, learned_from)
        return made, fingerprint_of(await read_configurations(clients.bots, made))

    _say(*ask(services, store))


@takes_services
def diversity(
    services: Services,
    name: Name,
    collection: Annotated[
        str | None,
        typer.Argument(help=f"{NAMED} a collection of bipartite-play with these partners; nothing: ask each partner."),
    ] = None,
    version: Version = None,
    json_file: JsonFile = None,
) -> None:
    """Show how much the replies of partners overlap."""
    check_output(json_file)

    async def measure(clients: Clients) -> tuple[list[str], ReplyDiversity]:
        found = await find_partner_set(clients, name, version)
        partners = [each.name for each in found.partners]
        if collection is None:
            return partners, await _ask(clients, found)
        played = await find(Collections(clients), collection)
        return partners, reply_diversity(await read_replies(clients.conversations, found, played.id))

    partners, found = ask(services, measure)
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
            pair = found.closest_pair(bot)
            alike = ("-", "-") if pair is None else (pair.other(bot), f"{pair.overlap:.3f}")
            table.add_row(bot, *alike, f"{own:.3f}")
        console = Console()
        console.print(table)
        if silent := [each for each in partners if each not in found.own]:
            console.print(f"With fewer than two replies, left out: {', '.join(silent)}.", highlight=False)
        said = f"{len(found.own)} partners, as diverse as {found.effective_bots:.1f} that say nothing alike."
        console.print(said, highlight=False)


async def _store(clients: Clients, name: str, description: str, bots: Sequence[UUID]) -> tuple[PartnerSetOut, str]:
    """Store bots as a partner set; return it with its fingerprint."""
    made = await store_partner_set(clients.bots, clients.conversations, name, description, bots)
    return made, fingerprint_of(await read_configurations(clients.bots, made))


async def _ask(clients: Clients, partner_set: PartnerSetOut) -> ReplyDiversity:
    """Ask each partner for a reply to the same openings, the sample's, and measure how diverse the replies are."""
    openings = [each["turns"][:2] for each in sample.sample_dialogues() if each["split"] == "openings"]
    return reply_diversity(await ask_partners(clients.bots, partner_set, openings))


def _say(made: PartnerSetOut, fingerprint: str) -> None:
    say(f"Partner set '{made.name}', version {made.version}, {len(made.partners)} bots, fingerprint {fingerprint}")


async def _latest_scores(clients: Clients, collection: CollectionOut) -> UUID:
    """Return the latest complete score set of a collection; raises NoScores."""
    jobs = [each async for each in clients.fed.list_score_jobs(collection_id=collection.id)]
    complete = [each.id for each in jobs if each.state is ScoreJobState.COMPLETE]
    if not complete:
        raise NoScores(collection=collection.name)
    return complete[-1]
