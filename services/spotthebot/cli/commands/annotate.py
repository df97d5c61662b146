"""`stb annotate` lets simulated annotators work on a campaign, or on all tasks of a study."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from shlex import quote
from typing import Annotated, Any

import typer

from spotthebot.cli.commands.options import NAMED, JsonFile, check_output, say_session, write_json
from spotthebot.cli.commands.service_options import takes_services
from spotthebot.cli.resources.directories import CampaignsAndStudies
from spotthebot.cli.resources.resolver import find
from spotthebot.cli.studies.work import Worked, work_on
from spotthebot.contracts.annotation.campaigns import CampaignOut, CampaignState
from spotthebot.contracts.annotation.protocols import GAME
from spotthebot.contracts.annotation.studies import StudyOut
from spotthebot.local.progress import say, showing_progress
from spotthebot.local.runtime.session import Services, Session, connect, open_session
from spotthebot.local.seeding import simulated_annotators
from spotthebot.simulation.work import SimulatedWork

_WORKABLE = {CampaignState.OPEN, CampaignState.COMPLETE}


@takes_services
def annotate(
    services: Services,
    name: Annotated[str, typer.Argument(help=f"{NAMED} the campaign or study.", metavar="CAMPAIGN_OR_STUDY")],
    simulated: Annotated[int, typer.Option("--simulated", min=1, max=1000, help="How many simulated annotators.")],
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Same seed: same annotators.")] = 7,
    json_file: JsonFile = None,
) -> None:
    """Let simulated annotators work on a campaign or a study until nothing is left for them."""
    check_output(json_file)
    with open_session(services) as session:
        say_session(session)
        given, worked = asyncio.run(_annotate(session, name, simulated, seed))
    study = given if isinstance(given, StudyOut) else None
    write_json(json_file, asdict(worked[0].work) if study is None else _account(study, worked))
    if study is None:
        _say_work(worked[0])
        _say_next(worked[0].campaign)
    else:
        _say_tasks(worked)
        _say_next_of_study(study, [each.campaign for each in worked])
    if not any(each.work.assignments or each.campaign.state in _WORKABLE for each in worked):
        raise typer.Exit(1)


async def _annotate(session: Session, name: str, count: int, seed: int) -> tuple[CampaignOut | StudyOut, list[Worked]]:
    async with connect(session) as clients:
        given = await find(CampaignsAndStudies(clients), name)
        with showing_progress() as steps:
            return given, await work_on(clients, given, simulated_annotators(count, seed=seed), steps)


def _account(study: StudyOut, worked: Sequence[Worked]) -> dict[str, Any]:
    tasks = [{"campaign": str(each.campaign.id), "name": each.campaign.name, **asdict(each.work)} for each in worked]
    return {"study": str(study.id), "name": study.name, "tasks": tasks}


def _say_work(worked: Worked) -> None:
    work, seen = worked.work, worked.campaign
    say(f"Simulated annotators submitted {work.assignments} packages with {work.annotations} annotations")
    if set(work.refused) == {"closed"} and seen.state is CampaignState.COMPLETE:
        say(f"All packages are done: each annotator ({work.annotators}) found the campaign closed.")
    else:
        say(f"Each asked until a package was refused, and why: {_reasons(work)}")
    say(f"The campaign {seen.name} is {seen.state}: {seen.annotations} of {seen.annotations_needed} annotations")


def _reasons(work: SimulatedWork) -> str:
    return ", ".join(
        f"{reason.replace('_', ' ')} ({count} annotator{'s' if count != 1 else ''})"
        for reason, count in sorted(work.refused.items())
    )


def _say_tasks(worked: Sequence[Worked]) -> None:
    """Print one line for each task of a study."""
    say("Simulated annotators submitted:")
    for each in worked:
        work, seen = each.work, each.campaign
        submitted = f"{work.assignments} packages with {work.annotations} annotations"
        refused = "" if seen.state is CampaignState.COMPLETE else f"; refused in the end: {_reasons(work)}"
        say(f"{seen.name}: {submitted}, {seen.state}: {seen.annotations} of {seen.annotations_needed}{refused}")


def _say_next(seen: CampaignOut) -> None:
    if seen.state is CampaignState.COMPLETE and seen.protocol != GAME:
        say(f"Rank it: ./stb rank {quote(seen.name)}")
    elif seen.state is CampaignState.COMPLETE:
        say(f"The annotators' points: GET /v1/campaigns/{seen.id}/leaderboard of analytics")
    elif seen.state is CampaignState.OPEN:
        say("More annotators are needed: nobody sees a conversation twice, or takes more packages than the limit.")
    elif seen.state is CampaignState.DRAFT:
        say("A draft has nothing to claim: './stb campaign FILE --open' opens it.")


def _say_next_of_study(study: StudyOut, seen: Sequence[CampaignOut]) -> None:
    states = {each.state for each in seen}
    if not states:
        say(f"The study {study.name} has no task to annotate: './stb study FILE' makes those that its file names.")
    if states == {CampaignState.COMPLETE}:
        say(f"Rank it: ./stb rank {quote(study.name)}")
        if study.outcome is not None:
            say(f"Which measures deserve trust: ./stb studies assess {quote(study.name)}")
    if CampaignState.OPEN in states:
        say("More annotators are needed: nobody sees a conversation twice, or takes more packages than the limit.")
    if CampaignState.DRAFT in states:
        say("Drafts have nothing to claim: './stb study FILE --open' opens them.")
