"""`stb collections`: lists, shows, exports, renames, pauses, resumes and cancels collections."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from pydantic import ValidationError

from spotthebot.cli.collections import hub, run
from spotthebot.cli.commands.options import NAMED, AsJson, check_folder, check_output
from spotthebot.cli.commands.resource_commands import Yes, ask, confirm, dumped, list_all, print_json
from spotthebot.cli.commands.resource_tables import ID, print_details, print_facts, print_list
from spotthebot.cli.commands.service_options import reads_services
from spotthebot.cli.resources.directories import Collections
from spotthebot.cli.resources.resolver import find
from spotthebot.cli.results.figures import interval_of
from spotthebot.contracts.conversations.collections import ENDED, CollectionChangesIn, CollectionOut
from spotthebot.contracts.conversations.progress import ChatBotOut, FailureOut, PairOut
from spotthebot.kit.exports.formats import ExportFormat
from spotthebot.kit.text.characters import printable
from spotthebot.kit.text.validation import faults_of
from spotthebot.local.progress import say
from spotthebot.local.report.table import shown
from spotthebot.local.runtime.session import Clients, Services

if TYPE_CHECKING:
    from spotthebot.contracts.analytics.costs import ChatTimesOut

Collection = Annotated[str, typer.Argument(metavar="COLLECTION", help=f"{NAMED} the collection.")]
EXPORT_TARGET: Final = "to a file .csv, .parquet, .jsonl or .zip (data set), or as conversations.jsonl to a folder"
_MAX_PAIRS: Final = 50


@reads_services
def list_collections(services: Services, as_json: AsJson = False) -> None:
    """List collections with their progress."""
    found = list_all(services, Collections)
    if as_json:
        print_json({"collections": dumped(found)})
        return
    rows = ((each.name, each.state, f"{each.complete} of {each.conversations}", each.id) for each in found)
    empty = "There is no collection: ./stb collect FILE makes one, ./stb import and ./stb demo do."
    print_list(("Name", "State", "Complete", ID), rows, empty=empty)


@reads_services
def show(services: Services, collection: Collection, as_json: AsJson = False) -> None:
    """Show a collection: its progress, its pairs, and the reasons of failed and waiting conversations."""

    async def read(
        clients: Clients,
    ) -> tuple[CollectionOut, list[PairOut], list[FailureOut], list[ChatBotOut]]:
        found = await find(Collections(clients), collection)
        pairs = [each async for each in clients.conversations.list_pairs(found.id)]
        failures = [each async for each in clients.conversations.list_failures(found.id)]
        bots = (await clients.conversations.list_chat_bots(found.id)).bots if found.mode == "human_bot" else ()
        return found, pairs, failures, list(bots)

    found, pairs, failures, bots = ask(services, read)
    if as_json:
        document = {"collection": found.model_dump(mode="json"), "pairs": dumped(pairs), "failures": dumped(failures)}
        print_json(document | ({"bots": dumped(bots)} if bots else {}))
        return
    ended = (("failed", found.failed), ("cancelled", found.cancelled), ("wait", found.waiting))
    others = "".join(f", {number} {word}" for word, number in ended if number)
    facts: dict[str, Any] = {
        "Name": found.name,
        "Id": found.id,
        "State": found.state,
        "Mode": found.mode,
        "Domain": found.domain,
        "Conversations": f"{found.complete} of {found.conversations} complete{others}",
        "Turns": f"{found.turns} of {found.turns_planned}",
        "Priority": found.priority,
        "Created": found.created_at,
        "Finished": found.finished_at,
    }
    print_facts(facts)
    if bots:
        print_details(("Bot", "Conversations", "Rated"), ((each.name, _counts(each), each.rated) for each in bots))
    else:
        rows = ((*each.participants, _counts(each)) for each in pairs[:_MAX_PAIRS])
        print_details(("Begins", "Answers", "Conversations"), rows)
    if not bots and len(pairs) > _MAX_PAIRS:
        say(f"The first {_MAX_PAIRS} of {len(pairs)} pairs: --json has all.")
    reasons = ((each.conversations, each.state, each.bot, each.reason) for each in failures)
    print_details(("Number", "State", "To speak", "Reason"), reasons)


@reads_services
def times(services: Services, collection: Collection, as_json: AsJson = False) -> None:
    """Show how many seconds people chat with a bot, for one conversation."""

    async def read(clients: Clients) -> "ChatTimesOut":
        return await clients.analytics.get_chat_times((await find(Collections(clients), collection)).id)

    found = ask(services, read)
    if as_json:
        print_json(found)
        return
    time = found.time
    median, mean = (shown(each, 1) for each in (time.median_seconds, time.mean_seconds))
    facts = {"Median seconds": median, "95% interval": interval_of(time.low, time.high, 1), "Mean seconds": mean}
    print_facts(facts | {"Chats": time.n, "People": found.annotators, "Left out": time.excluded})


@reads_services
def export(
    services: Services,
    collection: Collection,
    target: Annotated[Path, typer.Argument(metavar="TO", help=f"Write {EXPORT_TARGET}.")],
) -> None:
    """Write a collection's conversations to a file."""
    check_target(target)

    async def write(clients: Clients) -> Path:
        return await run.export(clients.conversations, (await find(Collections(clients), collection)).id, target)

    say(f"Exported: {ask(services, write)}")


@reads_services
def push(
    services: Services,
    collection: Collection,
    repository: Annotated[str, typer.Argument(metavar="OWNER/NAME", help="The data set's repository.")],
    public: Annotated[bool, typer.Option("--public", help="A new repository can be read by everybody.")] = False,
) -> None:
    """Push a collection's conversations to a Hugging Face hub, as a data set."""

    async def write(clients: Clients) -> str:
        found = await find(Collections(clients), collection)
        archive = clients.conversations.export_collection(found.id, ExportFormat.DATASETS)
        return await hub.push(archive, repository, private=not public)

    say(f"Pushed: {ask(services, write)}")


def check_target(target: Path) -> None:
    """Check before any work that an export can be written; raises OutputNotWritable."""
    (check_folder if run.form_of(target) is None else check_output)(target)


@reads_services
def pause(services: Services, collection: Collection) -> None:
    """Pause a collection: bots get no requests until it is resumed."""

    async def change(clients: Clients) -> CollectionOut:
        return await clients.conversations.pause_collection((await find(Collections(clients), collection)).id)

    _say_state(ask(services, change))


@reads_services
def resume(services: Services, collection: Collection) -> None:
    """Resume a paused collection."""

    async def change(clients: Clients) -> CollectionOut:
        return await clients.conversations.resume_collection((await find(Collections(clients), collection)).id)

    _say_state(ask(services, change))


@reads_services
def rename(
    services: Services,
    collection: Collection,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its new name.")],
) -> None:
    """Rename a collection; its id stays, and so does all that was made from it."""
    try:
        changes = CollectionChangesIn(name=name)
    except ValidationError as error:
        raise typer.BadParameter(faults_of(error)[0]) from None

    async def change(clients: Clients) -> CollectionOut:
        found = await find(Collections(clients), collection)
        return await clients.conversations.change_collection(found.id, changes)

    _say_state(ask(services, change))


@reads_services
def cancel(services: Services, collection: Collection, yes: Yes = False) -> None:
    """End a collection for good: running conversations are cancelled; their turns are kept. Asks for a confirmation."""

    async def change(clients: Clients) -> CollectionOut:
        found = await find(Collections(clients), collection)
        if found.state not in ENDED:
            progress = f"{found.complete} of {found.conversations} conversations complete"
            await confirm(f"Collection {printable(found.name)} ({found.id}) ends for good with {progress}.", yes=yes)
        return await clients.conversations.cancel_collection(found.id)

    _say_state(ask(services, change))


def _counts(pair: PairOut | ChatBotOut) -> str:
    return ", ".join(f"{number} {state}" for state, number in pair.conversations.items())


def _say_state(collection: CollectionOut) -> None:
    say(f"Collection {printable(collection.name)} ({collection.id}): {collection.state}")
