"""`stb study` creates a study that a file declares: a campaign for each task, over the same dialogues."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from spotthebot.cli.commands.declarations import Schema, declaration_faults, print_schema, required
from spotthebot.cli.commands.options import JsonFile, check_output, say_session, write_json
from spotthebot.cli.commands.resource_tables import print_list
from spotthebot.cli.commands.service_options import takes_services
from spotthebot.cli.studies import run
from spotthebot.cli.studies.costs import Cost, total_cost
from spotthebot.cli.studies.declaration_file import StudyDeclaration, StudyDeclared, read_study
from spotthebot.cli.studies.run import DeclaredStudy, EstimatedStudy
from spotthebot.contracts.annotation.campaigns import CampaignState
from spotthebot.contracts.annotation.previews import CampaignEstimateOut
from spotthebot.contracts.repeated_texts import RepeatedTexts
from spotthebot.local.progress import say, say_repeated_texts, showing_progress
from spotthebot.local.runtime.session import Services, Session, connect, open_session


@takes_services
def study(
    services: Services,
    file: Annotated[
        Path | None,
        typer.Argument(
            exists=True,
            dir_okay=False,
            help='YAML file that declares the study: see "Run a study of several tasks" in the documentation.',
        ),
    ] = None,
    opens: Annotated[
        bool, typer.Option("--open", help="Let annotators claim packages of every task; without, they are drafts.")
    ] = False,
    change: Annotated[
        bool, typer.Option("--change", help="Change the study that an earlier version of the file made.")
    ] = False,
    json_file: JsonFile = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what it would hold and cost, make nothing.")
    ] = False,
    schema: Schema = False,
) -> None:
    """Make a study that a file declares: tasks over the same dialogues. A second run changes nothing."""
    if schema:
        print_schema(StudyDeclaration)
        return
    path = required(file)
    check_output(json_file)
    with declaration_faults():
        declared = read_study(path)
        with open_session(services) as session:
            say_session(session)
            if dry_run:
                estimate = asyncio.run(_estimate(session, declared))
                write_json(json_file, estimate.account)
                _say_estimate(estimate, prints=str(json_file) != "-")
            else:
                made = asyncio.run(_declare(session, declared, opens=opens, changes=change))
                write_json(json_file, made.account)
                _say_study(made, path, prints=str(json_file) != "-")


async def _estimate(session: Session, declared: StudyDeclared) -> EstimatedStudy:
    async with connect(session) as clients:
        with showing_progress() as steps:
            return await run.estimate(clients, declared, steps)


async def _declare(session: Session, declared: StudyDeclared, *, opens: bool, changes: bool) -> DeclaredStudy:
    async with connect(session) as clients:
        with showing_progress() as steps:
            return await run.declare(clients, declared, steps, opens=opens, changes=changes)


def _say_estimate(found: EstimatedStudy, *, prints: bool) -> None:
    if prints:
        _print_costs(found.costs)
    _say_notes({task: (each.estimate, each.repeated_texts) for task, each in found.tasks.items()})
    if found.tasks:
        say("The same annotators may work on every task. Drafts say in how many hours.")
    if found.study is not None:
        new = [task for task, each in found.tasks.items() if each.campaign is None]
        adds = f"it would add the tasks {', '.join(new)}" if new else "it would change nothing"
        say(f"An earlier version of this file made the study {found.study.id}: {adds}.")


def _say_study(made: DeclaredStudy, path: Path, *, prints: bool) -> None:
    seen = made.study
    say(f"Study {seen.name} ({seen.id}){'' if made.is_new else _before(changed=bool(made.changed))}")
    for difference in made.changed:
        say(f"Changed: {difference}")
    for task, each in made.tasks.items():
        before = "" if each.is_new else _before(changed=bool(each.changed or each.opened))
        say(f"Task {task}: campaign {each.campaign.name} ({each.campaign.id}), {each.campaign.state}{before}")
    if made.changed_nothing:
        say("Nothing was changed.")
    if prints:
        _print_costs(made.costs)
    _say_notes({task: (each.preview, each.repeated_texts) for task, each in made.tasks.items()})
    states = {each.campaign.state for each in made.tasks.values()}
    if CampaignState.DRAFT in states:
        say(f"Nothing can be claimed of drafts. Open them: ./stb study {quote(str(path))} --open")
    elif CampaignState.OPEN in states and all(each.campaign.panel is None for each in made.tasks.values()):
        say(f"Try it: ./stb annotate {quote(seen.name)} --simulated 12")
    elif not states:
        say(f"People rated the chats: ./stb rank {quote(seen.name)}")


def _before(*, changed: bool) -> str:
    return ", made before and changed" if changed else ", made before"


def _say_notes(tasks: Mapping[str, tuple[CampaignEstimateOut, Sequence[RepeatedTexts]]]) -> None:
    """Print which conversations are left out, which limits are not reached, and which texts are repeated."""
    notes: dict[str, list[str]] = {}
    for task, (found, _) in tasks.items():
        if left_out := (found.too_short or 0) + (found.not_selected or 0) + (found.unpaired or 0):
            notes.setdefault(f"{left_out} conversations are left out", []).append(task)
        for limit in found.unreached:
            notes.setdefault(f"{limit.pointer.removeprefix('/')} {limit.detail}", []).append(task)
    for note, of in notes.items():
        say(f"{', '.join(of)}: {note}")
    say_repeated_texts(list(dict.fromkeys(text for _, texts in tasks.values() for text in texts)))


def _print_costs(costs: Mapping[str, Cost]) -> None:
    """Print the cost of each task, and of all tasks together; a study of chats alone has none."""
    if not costs:
        return
    every = {**costs, "all tasks": total_cost(costs.values())}
    rows = [
        (task, each.packages, each.units, each.annotations, each.annotators, _hours(each), _pay(each))
        for task, each in every.items()
    ]
    print_list(("Task", "Packages", "Units", "Annotations", "Annotators", "Hours", "Pay"), rows, empty="")


def _hours(cost: Cost) -> str:
    return "unknown" if cost.hours is None else f"{cost.hours:.1f}"


def _pay(cost: Cost) -> str:
    return " + ".join(f"{amount} {currency}" for currency, amount in cost.pay.items())
