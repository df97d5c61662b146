"""`stb studies`: lists, shows and deletes studies, and says which of their measures deserve trust."""

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from spotthebot.cli.commands.analysis_options import options_of_labels, require_no_options, takes_parameters
from spotthebot.cli.commands.options import NAMED, AsJson, JsonFile, check_output, write_json
from spotthebot.cli.commands.resource_commands import Yes, ask, confirm, dumped, list_all, print_json
from spotthebot.cli.commands.resource_tables import ID, print_details, print_facts, print_list
from spotthebot.cli.commands.service_options import reads_services
from spotthebot.cli.commands.value_files import Events, Every, ValuesFile, filter_of, say_values, write_values
from spotthebot.cli.resources.directories import Studies
from spotthebot.cli.resources.resolver import find
from spotthebot.cli.results.measures import print_sources
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.studies import StudyOut
from spotthebot.kit.text.characters import printable
from spotthebot.local.progress import say
from spotthebot.local.runtime.session import Clients, Services

if TYPE_CHECKING:
    from spotthebot.contracts.analytics.studies import StudyAssessmentOut

Study = Annotated[str, typer.Argument(metavar="STUDY", help=f"{NAMED} the study.")]


@reads_services
def list_studies(services: Services, as_json: AsJson = False) -> None:
    """List studies with their tasks."""
    found = list_all(services, Studies)
    if as_json:
        print_json({"studies": dumped(found)})
        return
    rows = ((each.name, len(each.campaigns), each.outcome, each.id) for each in found)
    empty = "There is no study: ./stb study FILE makes one."
    print_list(("Name", "Tasks", "Outcome", ID), rows, empty=empty)


@reads_services
def show(services: Services, study: Study, as_json: AsJson = False) -> None:
    """Show a study: its tasks with their progress, its chats and its outcome."""

    async def read(clients: Clients) -> tuple[StudyOut, list[CampaignOut], list[str]]:
        found = await find(Studies(clients), study)
        campaigns = [await clients.annotation.get_campaign(each) for each in found.campaigns]
        chats = [(await clients.conversations.get_collection(each)).name for each in found.chats]
        return found, campaigns, chats

    found, campaigns, chats = ask(services, read)
    if as_json:
        print_json(found)
        return
    facts: dict[str, Any] = {
        "Name": found.name,
        "Id": found.id,
        "Outcome": found.outcome,
        "Chats": ", ".join(chats) or None,
        "Scores": ", ".join(map(str, found.scores)) or None,
        "Latency": "a measure" if found.latency else None,
        "Seed": found.seed,
        "Created": found.created_at,
    }
    print_facts(facts)
    rows = (
        (each.name, each.protocol, each.state, f"{each.annotations} of {each.annotations_needed}") for each in campaigns
    )
    print_details(("Campaign", "Protocol", "State", "Annotations"), rows)


@reads_services
def values(services: Services, study: Study, out: ValuesFile, every: Every = False, events: Events = False) -> None:
    """Write all that annotators and chatting people said as a table of ratings, which `stb analyse table` reads."""

    async def read(clients: Clients) -> int:
        found = await find(Studies(clients), study)
        return await write_values(
            clients.analytics.export_study_values(found.id, filter=filter_of(every=every)), out, events=events
        )

    say_values(ask(services, read), out, events=events)


@reads_services
@takes_parameters
def assess(services: Services, study: Study, parameters: dict[str, Any], json_file: JsonFile = None) -> None:
    """Say which measures of a study deserve trust, by the study's outcome."""
    check_output(json_file)

    async def read(clients: Clients) -> "StudyAssessmentOut":
        found = await find(Studies(clients), study)
        require_no_options(f"the study '{found.name}'", options_of_labels(parameters))
        return await clients.analytics.assess_study(found.id, **parameters)

    found = ask(services, read)
    write_json(json_file, found.model_dump(mode="json"))
    if str(json_file) != "-":
        from spotthebot.cli.commands.assessment_display import print_assessment  # noqa: PLC0415 - models take time

        console = Console()
        print_sources(console, found)
        print_assessment(console, found)


@reads_services
def delete(services: Services, study: Study, yes: Yes = False) -> None:
    """Delete a study; its campaigns stay. Asks for a confirmation."""

    async def change(clients: Clients) -> StudyOut:
        found = await find(Studies(clients), study)
        await confirm(f"The study {printable(found.name)} ({found.id}) goes for good; its campaigns stay.", yes=yes)
        await clients.annotation.delete_study(found.id)
        return found

    deleted = ask(services, change)
    say(f"The study {printable(deleted.name)} ({deleted.id}) is deleted; its campaigns are still there.")
