"""`stb campaign`, `stb annotate`: a campaign that a file declares, and simulated annotators who work on it."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from spotthebot.cli import campaigns
from spotthebot.cli.campaigns import CampaignDeclared, DeclaredCampaign, Estimate
from spotthebot.cli.commands.declarations import Schema, declaration_faults, print_schema, required
from spotthebot.cli.commands.options import NAMED, JsonFile, check_folder, check_output, say_session, write_json
from spotthebot.cli.commands.service_options import takes_services
from spotthebot.cli.resources import Campaigns, find
from spotthebot.contracts.annotation.campaigns import CampaignOut, CampaignState
from spotthebot.contracts.annotation.previews import CampaignPreviewOut
from spotthebot.importers.campaign_exports import export
from spotthebot.local.progress import say, say_repeated_texts, showing_progress
from spotthebot.local.runtime.session import Services, Session, connect, open_session
from spotthebot.local.seeding import simulated_annotators
from spotthebot.simulation.work import RANKED_PROTOCOL, SIMULATED_PROTOCOLS, SimulatedWork
from spotthebot.simulation.work import annotate as annotate_simulated

_WORKABLE = {CampaignState.OPEN, CampaignState.COMPLETE}


@takes_services
def campaign(
    services: Services,
    file: Annotated[
        Path | None,
        typer.Argument(
            exists=True, dir_okay=False, help="YAML file that declares the campaign: see docs/annotation.md."
        ),
    ] = None,
    opens: Annotated[
        bool, typer.Option("--open", help="Let annotators claim packages; without, it is a draft.")
    ] = False,
    change: Annotated[
        bool, typer.Option("--change", help="Change the campaign that an earlier version of the file made.")
    ] = False,
    json_file: JsonFile = None,
    export: Annotated[
        Path | None, typer.Option("--export", help="Write the campaign to this folder, for ./stb import export.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what it would hold and make nothing.")] = False,
    schema: Schema = False,
) -> None:
    """Make a campaign of annotation that a file declares; the same file again changes nothing."""
    if schema:
        print_schema(campaigns.Declaration)
        return
    path = required(file)
    check_output(json_file)
    if export is not None:
        check_folder(export)
    with declaration_faults():
        declared = campaigns.read_declaration(path)
        with open_session(services) as session:
            say_session(session)
            if dry_run:
                estimate = asyncio.run(_estimate(session, declared))
                write_json(json_file, estimate.account)
                _say_estimate(estimate)
            else:
                made, exported = asyncio.run(_declare(session, declared, export, opens=opens, changes=change))
                write_json(json_file, made.account)
                _say_campaign(made, path)
                if exported:
                    say(f"Exported: {', '.join(map(str, exported))}")


@takes_services
def annotate(
    services: Services,
    name: Annotated[str, typer.Argument(help=f"{NAMED} the campaign.", metavar="CAMPAIGN")],
    simulated: Annotated[int, typer.Option("--simulated", min=1, max=1000, help="How many simulated annotators.")],
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Same seed: same annotators.")] = 7,
    json_file: JsonFile = None,
) -> None:
    """Let simulated annotators work on a campaign until nothing is left for them."""
    check_output(json_file)
    with open_session(services) as session:
        say_session(session)
        work, seen = asyncio.run(_annotate(session, name, simulated, seed))
    write_json(json_file, asdict(work))
    _say_work(work, seen)
    if not work.assignments and seen.state not in _WORKABLE:
        raise typer.Exit(1)


async def _declare(
    session: Session, declared: CampaignDeclared, folder: Path | None, *, opens: bool, changes: bool
) -> tuple[DeclaredCampaign, list[Path]]:
    async with connect(session) as clients:
        made = await campaigns.declare(clients, declared, opens=opens, changes=changes)
        if folder is None:
            return made, []
        return made, await export(clients, made.campaign, folder)


async def _estimate(session: Session, declared: CampaignDeclared) -> Estimate:
    async with connect(session) as clients:
        return await campaigns.estimate(clients, declared)


async def _annotate(session: Session, name: str, count: int, seed: int) -> tuple[SimulatedWork, CampaignOut]:
    async with connect(session) as clients:
        found = await find(Campaigns(clients), name)
        with showing_progress() as steps:
            total = found.annotations_needed - found.annotations
            with steps.step("Simulated annotators at work", total=total) as step:
                annotators = simulated_annotators(count, seed=seed)
                work = await annotate_simulated(clients.tasks, found, annotators, step.advance)
        return work, await clients.annotation.get_campaign(found.id)


def _say_estimate(estimate: Estimate) -> None:
    request = estimate.request
    _say_size(estimate.account, estimate.unit.lengths, estimate.not_selected)
    say_repeated_texts(estimate.repeated_texts)
    needed = estimate.account["segments"] * request.annotations_per_segment
    say(f"{needed} annotations to make; a draft says by how many annotators, and in how many hours")
    if estimate.reach is not None:
        say(estimate.reach.sentence)
    if estimate.campaign is not None:
        say(f"This file made the campaign {estimate.campaign.id} before: it would change nothing.")


def _say_campaign(made: DeclaredCampaign, path: Path) -> None:
    seen = made.campaign
    before = "" if made.is_new else ", changed" if made.changed else ", made before"
    say(f"Campaign {seen.name} ({seen.id}): {seen.state}{before}")
    for difference in made.changed:
        say(f"Changed: {difference}")
    _say_size(made.account, made.unit.lengths, seen.not_selected)
    say_repeated_texts(made.repeated_texts)
    _say_preview(made.preview)
    if made.reach is not None:
        say(made.reach.sentence)
    say(f"{seen.annotations} of {seen.annotations_needed} annotations are there")
    if seen.state is CampaignState.DRAFT:
        say(f"Nothing can be claimed yet. Open it: ./stb campaign {quote(str(path))} --open")
    elif seen.state is CampaignState.OPEN and seen.protocol in SIMULATED_PROTOCOLS:
        say(f"Try it: ./stb annotate {quote(seen.name)} --simulated 12")


def _say_size(account: dict[str, Any], lengths: tuple[int, ...], not_selected: int | None) -> None:
    conversations = account["conversations"]
    shown = f"at {', '.join(map(str, lengths))} exchanges" if lengths else "whole"
    say(
        f"{account['packages']} packages with {account['segments']} segments: {conversations['used']} conversations, "
        f"each {shown}"
    )
    if too_short := conversations["too_short"]:
        say(f"{too_short} conversations are left out, as they have no {max(lengths, default=1)} exchanges")
    if not_selected:
        why = "another collection has them too, or human_share leaves them out"
        say(f"{not_selected} conversations are not selected: {why}")


def _say_preview(preview: CampaignPreviewOut) -> None:
    hours = "hours unknown: nobody was timed" if preview.hours is None else f"about {preview.hours:g} hours"
    pay = "" if preview.pay is None else f", {preview.pay} {preview.currency} in all"
    say(f"{preview.annotations} annotations by {preview.annotators} annotators at least, {hours}{pay}")
    for limit in preview.unreached:
        say(f"{limit.pointer.removeprefix('/')} {limit.detail}")


def _say_work(work: SimulatedWork, seen: CampaignOut) -> None:
    say(f"Simulated annotators submitted {work.assignments} packages with {work.annotations} annotations")
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(work.refused.items()))
    say(f"Each was refused a package in the end: {reasons}")
    say(f"The campaign {seen.name} is {seen.state}: {seen.annotations} of {seen.annotations_needed} annotations")
    if seen.state is CampaignState.COMPLETE and seen.protocol == RANKED_PROTOCOL:
        say(f"Rank it: ./stb rank {quote(seen.name)}")
    elif seen.state is CampaignState.COMPLETE:
        say(f"The annotators' points: GET /v1/campaigns/{seen.id}/leaderboard of analytics")
    elif seen.state is CampaignState.OPEN:
        say("More annotators are needed: nobody sees a conversation twice, or takes more packages than the limit.")
    elif seen.state is CampaignState.DRAFT:
        say("A draft has nothing to claim: './stb campaign FILE --open' opens it.")
