"""`stb corpora list`, `show` and `remove`: the stored corpora and the contents of their splits."""

from typing import Annotated, Any

import typer

from spotthebot.cli.commands.options import NAMED, AsJson
from spotthebot.cli.commands.resource_commands import Yes, ask, confirm, dumped, list_all, print_json
from spotthebot.cli.commands.resource_tables import ID, print_details, print_facts, print_list
from spotthebot.cli.commands.service_options import reads_services
from spotthebot.cli.resources.directories import Corpora, owner
from spotthebot.cli.resources.resolver import find
from spotthebot.contracts.conversations.corpora import CorpusOut
from spotthebot.kit.text.characters import printable
from spotthebot.local.progress import say
from spotthebot.local.runtime.session import Clients, Services

Corpus = Annotated[str, typer.Argument(metavar="CORPUS", help=f"{NAMED} the corpus.")]


@reads_services
def list_corpora(services: Services, as_json: AsJson = False) -> None:
    """List corpora with their sizes."""
    found = list_all(services, Corpora)
    if as_json:
        print_json({"corpora": dumped(found)})
        return
    rows = ((each.name, each.domain, each.visibility, sum(each.dialogues.values()), each.id) for each in found)
    empty = "There is no corpus: ./stb corpora add makes one of a file."
    print_list(("Name", "Domain", "Visibility", "Dialogues", ID), rows, empty=empty)


@reads_services
def show(services: Services, corpus: Corpus, as_json: AsJson = False) -> None:
    """Show a corpus: its origin, and the statistics of its splits."""

    async def read(clients: Clients) -> CorpusOut:
        return await find(Corpora(clients), corpus)

    found = ask(services, read)
    if as_json:
        print_json(found)
        return
    facts: dict[str, Any] = {
        "Name": found.name,
        "Id": found.id,
        "Domain": found.domain,
        "Origin": found.origin,
        "Licence": found.licence,
        "Owner": owner(found.owner),
        "Visibility": found.visibility,
        "Created": found.created_at,
    }
    print_facts(facts)
    rows = (
        (split, held.dialogues, held.utterances, _mean(held.mean_exchanges), _mean(held.words_per_turn))
        for split, held in found.statistics.items()
    )
    print_details(("Split", "Dialogues", "Utterances", "Exchanges", "Words a turn"), rows)


@reads_services
def remove(services: Services, corpus: Corpus, yes: Yes = False) -> None:
    """Delete a corpus for good; no collection and no bot may use it. Asks for a confirmation."""

    async def delete(clients: Clients) -> CorpusOut:
        found = await find(Corpora(clients), corpus)
        held = sum(found.dialogues.values())
        await confirm(f"Corpus {_named(found)} and its {held:,} dialogues are deleted, for good.", yes=yes)
        await clients.conversations.remove_corpus(found.id)
        return found

    say(f"Corpus {_named(ask(services, delete))} is removed.")


def _named(corpus: CorpusOut) -> str:
    return f"{printable(corpus.name)} ({corpus.id})"


def _mean(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
