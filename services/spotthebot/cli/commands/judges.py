"""`stb judge`: adds, lists and shows judges, and lets one label a campaign."""

import asyncio
import os
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from spotthebot.cli.commands.declarations import Schema, declaration_faults, print_schema, required
from spotthebot.cli.commands.options import NAMED, AsJson, JsonFile, check_output, say_session, write_json
from spotthebot.cli.commands.resource_commands import ask, dumped, print_json
from spotthebot.cli.commands.resource_tables import print_facts, print_list
from spotthebot.cli.commands.service_options import FrontendKey, reads_services, takes_services, with_frontend_key
from spotthebot.cli.declarations.refusals import faults_of
from spotthebot.cli.judges.declaration_file import read_judge
from spotthebot.cli.judges.versions import version_of, versions_of
from spotthebot.cli.resources.directories import Campaigns
from spotthebot.cli.resources.resolver import find
from spotthebot.clients import PeerRefused
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.judges import EndpointJudge, JudgeIn, JudgeVersionOut
from spotthebot.judges.labellers import Surroundings, open_labeller
from spotthebot.judges.opinions import Labeller
from spotthebot.judges.run import AT_ONCE, JudgeRun, annotator_of, run_judge
from spotthebot.kit.outbound.addresses import Network, networks
from spotthebot.local.progress import Steps, say, showing_progress
from spotthebot.local.runtime.session import Clients, Services, Session, connect, open_session
from spotthebot.local.seeding import simulated_annotators

_CACHE = Path("~/.cache/spotthebot/judges")
Judge = Annotated[str, typer.Argument(metavar="JUDGE", help="Name of the judge.")]
Version = Annotated[int | None, typer.Option("--version", min=1, help="Version of the judge; else its newest.")]


@takes_services
def add(
    services: Services,
    file: Annotated[
        Path | None,
        typer.Argument(exists=True, dir_okay=False, help="YAML file that declares the judge: see docs/autojudge.md."),
    ] = None,
    as_json: AsJson = False,
    schema: Schema = False,
) -> None:
    """Add a version of a judge that a file declares. The same settings are the same version."""
    if schema:
        print_schema(JudgeIn)
        return
    path = required(file)
    with declaration_faults():
        declared = read_judge(path)

        async def create(clients: Clients) -> JudgeVersionOut:
            try:
                return await clients.annotation.create_judge(declared.request)
            except PeerRefused as refused:
                raise faults_of(declared, refused, {}) from refused

        found = ask(services, create)
    if as_json:
        print_json(found)
    else:
        say(f"The judge {found.name} has this as version {found.version}")
        say(f"Run it: ./stb judge run {quote(found.name)} --campaign NAME")


@reads_services
def list_judges(services: Services, as_json: AsJson = False) -> None:
    """List versions of judges, oldest first."""

    async def read(clients: Clients) -> list[JudgeVersionOut]:
        return [each async for each in clients.annotation.list_judges()]

    found = ask(services, read)
    if as_json:
        print_json({"judges": dumped(found)})
        return
    rows = ((each.name, each.version, each.settings.kind, _model(each), each.description) for each in found)
    empty = "There is no judge: ./stb judge add FILE adds one."
    print_list(("Name", "Version", "Kind", "Model", "Description"), rows, empty=empty)


@reads_services
def show(services: Services, judge: Judge, version: Version = None, as_json: AsJson = False) -> None:
    """Show a version of a judge, by default the newest, and which versions there are."""

    async def read(clients: Clients) -> tuple[JudgeVersionOut, list[JudgeVersionOut]]:
        return await version_of(clients, judge, version), await versions_of(clients, judge)

    found, versions = ask(services, read)
    if as_json:
        print_json(found)
        return
    facts: dict[str, Any] = {
        "Name": found.name,
        "Version": f"{found.version}, of {', '.join(str(each.version) for each in versions)}",
        "Description": found.description or None,
        "Hash of settings": found.sha256,
        "Created": found.created_at,
    }
    settings = {name.replace("_", " ").capitalize(): value for name, value in found.settings.model_dump().items()}
    print_facts(facts | {name: value for name, value in settings.items() if value not in (None, {}, ())})


@takes_services
def run(
    services: Services,
    judge: Judge,
    campaign: Annotated[str, typer.Option("--campaign", metavar="CAMPAIGN", help=f"{NAMED} the campaign.")],
    version: Version = None,
    repeat: Annotated[
        int, typer.Option(min=1, max=50, help="Which repeat: the campaign says how often a version may label it.")
    ] = 1,
    at_once: Annotated[int, typer.Option(min=1, max=200, help="Items that are labelled at the same time.")] = AT_ONCE,
    allow_network: Annotated[
        list[str] | None,
        typer.Option(
            help="Network whose addresses may be called, such as 127.0.0.0/8 for a model on this machine; repeatable. "
            "Public addresses always may."
        ),
    ] = None,
    cache: Annotated[Path, typer.Option(help="Folder that keeps paid answers.", file_okay=False)] = _CACHE,
    frontend_key: FrontendKey = None,
    folder: Annotated[
        Path | None, typer.Option(help="Folder of a trained judge's files.", exists=True, file_okay=False)
    ] = None,
    device: Annotated[str, typer.Option(help="Where a trained network runs: cpu, cuda, cuda:1 ...")] = "cpu",
    json_file: JsonFile = None,
) -> None:
    """Let a judge label the packages of a campaign that it has not labelled. Run it again after an interruption."""
    check_output(json_file)
    try:
        allowed = networks(allow_network or [])
    except ValueError as error:
        message = f"--allow-network: {error}"
        raise typer.BadParameter(message) from error
    with open_session(with_frontend_key(services, frontend_key)) as session:
        say_session(session)
        found, version_run, done = asyncio.run(
            _run(session, judge, campaign, version, repeat, at_once, allowed, cache.expanduser(), folder, device)
        )
    write_json(json_file, _account(found, version_run, done))
    _say_run(found, version_run, done)


async def _run(
    session: Session,
    name: str,
    campaign: str,
    version: int | None,
    repeat: int,
    at_once: int,
    allowed: tuple[Network, ...],
    cache: Path,
    folder: Path | None,
    device: str,
) -> tuple[CampaignOut, JudgeVersionOut, JudgeRun]:
    async with connect(session) as clients:
        judge, found = await version_of(clients, name, version), await find(Campaigns(clients), campaign)
        _say_endpoint(judge)
        here = Surroundings(
            annotation=clients.annotation,
            fed=lambda: clients.fed,
            environment=os.environ,
            networks=allowed,
            cache=cache,
            simulated=lambda seed: simulated_annotators(1, seed=seed)[0],
            folder=folder,
            device=device,
        )
        async with open_labeller(judge, found, here, repeat=repeat) as labeller:
            with showing_progress() as steps:
                done = await _work(clients, found, judge, labeller, steps, repeat=repeat, at_once=at_once)
        return found, judge, done


async def _work(
    clients: Clients,
    campaign: CampaignOut,
    judge: JudgeVersionOut,
    labeller: Labeller,
    steps: Steps,
    *,
    repeat: int,
    at_once: int,
) -> JudgeRun:
    name = annotator_of(judge, repeat)
    earlier = [each.packages async for each in clients.annotation.list_annotators(campaign.id, annotator=name)]
    left = max(campaign.packages - sum(earlier), 0)
    with steps.step(f"{name} at {campaign.name}", total=left) as step:
        return await run_judge(clients.tasks, campaign, judge, labeller, step.advance, repeat=repeat, at_once=at_once)


def _say_endpoint(judge: JudgeVersionOut) -> None:
    settings = judge.settings
    if isinstance(settings, EndpointJudge):
        key = f" with the key in {settings.key_variable}" if settings.key_variable else ""
        say(f"Asks {settings.model} at {settings.base_url}{key}")
    elif settings.kind == "simulated":
        say("A simulated judge follows a written rule: its labels say nothing about people.")


def _model(judge: JudgeVersionOut) -> str:
    return str(getattr(judge.settings, "model", ""))


def _account(campaign: CampaignOut, judge: JudgeVersionOut, done: JudgeRun) -> dict[str, Any]:
    named = {"campaign": str(campaign.id), "judge": judge.name, "version": judge.version, "kind": judge.settings.kind}
    return named | asdict(done)


def _say_run(campaign: CampaignOut, judge: JudgeVersionOut, done: JudgeRun) -> None:
    say(f"{judge.name} version {judge.version} labelled {done.packages} packages with {done.items} items")
    if done.answers:
        missing = sum(done.missing.values())
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(done.missing.items()))
        say(
            f"Missing: {missing} of {done.answers} answers, {missing / done.answers:.1%}"
            + (f" ({reasons})" * bool(missing))
        )
    usage = done.usage
    if usage.requests:
        say(f"Requests: {usage.requests}, of which {usage.cached} were answered from the cache")
        say(f"Tokens: {_known(usage.input_tokens)} of prompts, {_known(usage.output_tokens)} of answers")
        currency = judge.settings.currency if isinstance(judge.settings, EndpointJudge) else None
        if currency is not None and usage.cost is not None:
            say(f"Cost: {usage.cost:.4f} {currency}, of which {_known(usage.paid)} were paid now")
    if not done.packages:
        say(f"Nothing was left: this version has labelled all packages of {campaign.name}.")


def _known(count: float | None) -> str:
    return "an unknown number" if count is None else f"{count:,}" if isinstance(count, int) else f"{count:.4f}"
