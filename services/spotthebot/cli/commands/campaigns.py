"""`stb campaign` creates a campaign that a file declares."""

import asyncio
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from spotthebot.cli.campaigns import run
from spotthebot.cli.campaigns.declaration_file import CampaignDeclared, Declaration, read_declaration
from spotthebot.cli.campaigns.run import DeclaredCampaign, Estimate
from spotthebot.cli.commands.declarations import Schema, declaration_faults, print_schema, required
from spotthebot.cli.commands.options import JsonFile, check_folder, check_output, say_session, write_json
from spotthebot.cli.commands.service_options import takes_services
from spotthebot.contracts.annotation.campaigns import CampaignState
from spotthebot.contracts.annotation.previews import CampaignEstimateOut
from spotthebot.importers.campaign_exports import export
from spotthebot.local.progress import say, say_repeated_texts
from spotthebot.local.runtime.session import Services, Session, connect, open_session


@takes_services
def campaign(
    services: Services,
    file: Annotated[
        Path | None,
        typer.Argument(
            exists=True,
            dir_okay=False,
            help='YAML file that declares the campaign: see "Run a campaign" in the documentation.',
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
    """Make a campaign of annotation that a file declares. A second run with the same file changes nothing."""
    if schema:
        print_schema(Declaration)
        return
    path = required(file)
    check_output(json_file)
    if export is not None:
        check_folder(export)
    with declaration_faults():
        declared = read_declaration(path)
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


async def _declare(
    session: Session, declared: CampaignDeclared, folder: Path | None, *, opens: bool, changes: bool
) -> tuple[DeclaredCampaign, list[Path]]:
    async with connect(session) as clients:
        made = await run.declare(clients, declared, opens=opens, changes=changes)
        if folder is None:
            return made, []
        return made, await export(clients, made.campaign, folder)


async def _estimate(session: Session, declared: CampaignDeclared) -> Estimate:
    async with connect(session) as clients:
        return await run.estimate(clients, declared)


def _say_estimate(found: Estimate) -> None:
    _say_size(found.estimate)
    say_repeated_texts(found.repeated_texts)
    _say_work_ahead(
        found.estimate, "hours unknown: a draft estimates them once people have annotated under its protocol"
    )
    if found.reach is not None:
        say(found.reach.sentence)
    if found.campaign is not None:
        say(f"This file made the campaign {found.campaign.id} before: it would change nothing.")


def _say_campaign(made: DeclaredCampaign, path: Path) -> None:
    seen = made.campaign
    before = "" if made.is_new else ", changed" if made.changed else ", made before"
    say(f"Campaign {seen.name} ({seen.id}): {seen.state}{before}")
    for difference in made.changed:
        say(f"Changed: {difference}")
    _say_size(made.preview)
    say_repeated_texts(made.repeated_texts)
    _say_work_ahead(made.preview, _time_words(made.preview.hours))
    if made.reach is not None:
        say(made.reach.sentence)
    say(f"{seen.annotations} of {seen.annotations_needed} annotations are there")
    if seen.state is CampaignState.DRAFT:
        say(f"Nothing can be claimed yet. Open it: ./stb campaign {quote(str(path))} --open")
    elif seen.state is CampaignState.OPEN and seen.panel is not None:
        say(f"People come by a link: make it on the page /admin/campaigns/{seen.id}")
    elif seen.state is CampaignState.OPEN:
        say(f"Try it: ./stb annotate {quote(seen.name)} --simulated {made.preview.annotators_enough}")


def _time_words(hours: float | None) -> str:
    if hours is None:
        return "hours unknown until people have annotated"
    return f"about {hours:.1f} hours" if hours >= 1 else f"about {60 * hours:.0f} minutes"


def _say_size(found: CampaignEstimateOut) -> None:
    lengths = found.lengths
    shown = f"at {', '.join(map(str, lengths))} exchanges" if lengths else "whole"
    say(f"{found.packages} packages with {found.items} segments: {found.conversations} conversations, each {shown}")
    if found.units_twice:
        units = found.items // max(1, len(lengths))
        say(f"{found.units_twice} of {units} dialogues or pairs, drawn at random, have two annotators, the others one")
    if found.unpaired:
        say(f"{found.unpaired} dialogues are left out, as they have no partner in a pair")
    if found.too_short:
        say(f"{found.too_short} conversations are left out, as they have no {max(lengths, default=1)} exchanges")
    if found.not_selected:
        why = "another collection has them too, or human_share leaves them out"
        say(f"{found.not_selected} conversations are not selected: {why}")


def _say_work_ahead(found: CampaignEstimateOut, hours: str) -> None:
    pay = "" if found.pay is None else f", {found.pay} {found.currency} for annotators, without a panel's fee"
    many = "" if found.annotators == 1 else "s"
    say(f"{found.annotations} annotations by at least {found.annotators} annotator{many}; {hours}{pay}")
    for limit in found.unreached:
        say(f"{limit.pointer.removeprefix('/')} {limit.detail}")
