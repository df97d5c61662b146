"""`stb judge`: adds, lists and shows judges, and lets one label a campaign."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from spotthebot.cli.commands import judge_options
from spotthebot.cli.commands.declarations import Schema, declaration_faults, print_schema, required
from spotthebot.cli.commands.options import AsJson, JsonFile, check_output, say_session, write_json
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
from spotthebot.contracts.annotation.judges import JudgeIn, JudgeVersionOut, PluginJudge
from spotthebot.judges.labellers import open_labeller
from spotthebot.judges.opinions import Labeller
from spotthebot.judges.plugins import with_distribution
from spotthebot.judges.run import AT_ONCE, JudgeRun, annotator_of, run_judge
from spotthebot.local.progress import Steps, say, showing_progress
from spotthebot.local.runtime.session import Clients, Services, Session, connect, open_session


@takes_services
def add(
    services: Services,
    file: Annotated[
        Path | None,
        typer.Argument(
            exists=True,
            dir_okay=False,
            help='YAML file that declares the judge: see "Use judges" in the documentation.',
        ),
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
        request = declared.request
        if isinstance(request.settings, PluginJudge):
            request = request.model_copy(update={"settings": with_distribution(request.settings)})

        async def create(clients: Clients) -> JudgeVersionOut:
            try:
                return await clients.annotation.create_judge(request)
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
def show(
    services: Services, judge: judge_options.Judge, version: judge_options.Version = None, as_json: AsJson = False
) -> None:
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
@judge_options.asks_on_this_machine
def run(
    services: Services,
    judge: judge_options.Judge,
    campaign: judge_options.OfCampaign,
    machine: judge_options.OnThisMachine,
    version: judge_options.Version = None,
    repeat: Annotated[
        int, typer.Option(min=1, max=50, help="Which repeat: the campaign says how often a version may label it.")
    ] = 1,
    at_once: judge_options.AtOnce = AT_ONCE,
    frontend_key: FrontendKey = None,
    json_file: JsonFile = None,
) -> None:
    """Let a judge label the packages of a campaign that it has not labelled. Run it again after an interruption."""
    check_output(json_file)
    with open_session(with_frontend_key(services, frontend_key)) as session:
        say_session(session)
        found, version_run, done = asyncio.run(_run(session, judge, campaign, version, repeat, at_once, machine))
    write_json(json_file, _account(found, version_run, done))
    _say_run(found, version_run, done)


async def _run(
    session: Session,
    name: str,
    campaign: str,
    version: int | None,
    repeat: int,
    at_once: int,
    machine: judge_options.OnThisMachine,
) -> tuple[CampaignOut, JudgeVersionOut, JudgeRun]:
    async with connect(session) as clients:
        judge, found = await version_of(clients, name, version), await find(Campaigns(clients), campaign)
        judge_options.say_endpoint(judge)
        here = machine.surroundings(clients)
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


def _model(judge: JudgeVersionOut) -> str:
    return str(getattr(judge.settings, "model", getattr(judge.settings, "distribution", None) or ""))


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
    judge_options.say_usage(judge, done.usage)
    if not done.packages:
        say(f"Nothing was left: this version has labelled all packages of {campaign.name}.")
