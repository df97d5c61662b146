"""`stb demo`: runs the demonstration, from conversations to a ranking."""

import asyncio
from typing import Annotated

import typer
from rich.console import Console

from spotthebot.cli.commands.detached import start_detached
from spotthebot.cli.commands.fed_tables import bot_scores_table
from spotthebot.cli.commands.judge_worth import summary_lines
from spotthebot.cli.commands.keys import make_key
from spotthebot.cli.commands.options import JsonFile, check_output, say_session, write_json
from spotthebot.cli.commands.service_options import FrontendKey, takes_services, with_frontend_key
from spotthebot.cli.results import ranking
from spotthebot.contracts.access import Role
from spotthebot.contracts.fed.score_jobs import ScoreSetOut
from spotthebot.contracts.services import DEFAULT_PORT_BASE, get_service
from spotthebot.local.demonstration.judge import DemoJudges
from spotthebot.local.demonstration.run import Demonstration, offer_package, run_demo
from spotthebot.local.progress import showing_progress
from spotthebot.local.runtime.data_folder import DataFolder
from spotthebot.local.runtime.remote import Remote
from spotthebot.local.runtime.session import Services, Session, connect, open_session

_DEMO_KEY_DAYS = 30


@takes_services
def demo(
    services: Services,
    json_file: JsonFile = None,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the services running afterwards.")] = False,
    port_base: Annotated[
        int | None, typer.Option(min=1, max=65000, help="With --keep: services listen on the ports that follow it.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Same seed: same ranking.")] = 7,
    frontend_key: FrontendKey = None,
) -> None:
    """Run a demonstration: bots converse, simulated annotators label, and the labels rank the bots."""
    check_output(json_file)
    services = _demonstrated(services, frontend_key, keep=keep)
    starts = keep and isinstance(services, DataFolder) and services.holder() is None
    if port_base is not None and not starts:
        message = "it needs --keep and no running suite: leave it out, or stop the suite first"
        raise typer.BadParameter(message, param_hint="--port-base")
    if isinstance(services, DataFolder) and starts:
        start_detached(services, port_base)
    with open_session(services) as session:
        shown, urls, package = asyncio.run(_demo(session, seed))
    running = session.prepared is None
    result = {
        "simulated_annotators": True,
        "collection_id": str(shown.collection_id),
        "judged": None if shown.judged.judges is None else shown.judged.judges.model_dump(mode="json"),
        "fed": None if shown.scores is None else shown.scores.model_dump(mode="json"),
        **shown.analysis.model_dump(mode="json"),
        "read_at": {name: f"{url}/v1" for name, url in urls.items()} if running else {},
    }
    write_json(json_file, result)
    if str(json_file) != "-":
        _print_demo(shown, urls, services, package)


def _demonstrated(services: Services, frontend_key: str | None, *, keep: bool) -> Services:
    """Return the services with the keys that a demonstration needs.

    Services on another machine need a second key for annotators, `frontend_key`.
    """
    if isinstance(services, DataFolder):
        return services
    if keep:
        message = "--keep is for a suite on this machine: leave it out, since services that run elsewhere keep running"
        raise typer.BadParameter(message)
    return with_frontend_key(services, frontend_key)


async def _demo(session: Session, seed: int) -> tuple[Demonstration, dict[str, str], str | None]:
    """Run the demonstration. Return its results, the services' addresses, and the path of a package to label.

    The path is None if the services stop afterwards.
    """
    say_session(session)
    async with connect(session) as clients:
        with showing_progress() as steps:
            shown = await run_demo(clients, session.folder, steps, seed=seed)
            package = None if session.prepared else await offer_package(clients, shown, seed=seed)
            return shown, {**clients.urls, **_pages_of(session.services)}, package


def _pages_of(services: Services) -> dict[str, str]:
    """Return the address of the pages if the services run on another machine.

    It is the common address of all services.
    """
    return {"web": services.url.rstrip("/")} if isinstance(services, Remote) and "{" not in services.url else {}


def _print_demo(shown: Demonstration, urls: dict[str, str], services: Services, package: str | None) -> None:
    """Print the results, and the addresses at which they can be read.

    `package` is None if the services have stopped.
    """
    console = Console()
    ranking.print_ranking(console, shown.analysis)
    console.print(
        "The labels come from [bold]simulated annotators[/bold] that follow a written rule over the text;"
        " they stand in for people, and so do the sample dialogues written for this project. The ranking shows"
        " that the machinery works, not how people would label."
    )
    _print_judges(console, shown.judged)
    if isinstance(services, DataFolder):
        _print_scores(console, shown.scores)

    def print_line(line: str) -> None:
        console.print(line, soft_wrap=True, highlight=False)

    place = _place(services)
    campaign = f"campaigns/{shown.analysis.campaign_id}"
    print_line(f"Read it again: ./stb rank {shown.analysis.campaign}{place}")
    if package is None:
        port_base = services.port_base if isinstance(services, DataFolder) else DEFAULT_PORT_BASE
        port = get_service("web").port_after(port_base)
        print_line(f"See it in the browser: ./stb up{place}, and open http://127.0.0.1:{port}/{campaign}")
        return
    print_line(f"Over REST: {urls['analytics']}/v1/{campaign}/ranking")
    if "web" in urls:
        console.print("\n[bold]In the browser[/bold]")
        print_line(f"The dashboard: {urls['web']}/{campaign}")
        print_line(f"  Sign in with {_key_for_results(services)}")
        print_line(f"Label five dialogues yourself, no key needed: {urls['web']}{package}")
    if isinstance(services, DataFolder):
        print_line(f"\nThe services are running: ./stb status{place}, ./stb down{place}")


def _place(services: Services) -> str:
    """Return the options by which the next command finds the services: `--url`, `--data-dir` or nothing."""
    return f" --url {services.url}" if isinstance(services, Remote) else services.option


def _key_for_results(services: Services) -> str:
    if isinstance(services, Remote):
        return "a key of the role analyst, or this one"
    _, key = make_key(services.path, Role.ANALYST, days=_DEMO_KEY_DAYS, note="of ./stb demo --keep, to look at results")
    return f"this key, which reads results for {_DEMO_KEY_DAYS} days: {key}"


def _print_judges(console: Console, judged: DemoJudges) -> None:
    console.print("\n[bold]A simulated judge next to the simulated annotators[/bold]")
    if judged.judges is None:
        console.print(f"There is no report about it: {judged.reason}", markup=False, highlight=False)
        return
    for line in summary_lines(judged.judges):
        console.print(line, markup=False, highlight=False)
    console.print("Both the judge and these people are simulated: the figures say nothing about people.\n")


def _print_scores(console: Console, scores: ScoreSetOut | None) -> None:
    if scores is None:
        console.print("FED, by which a language model rates the bots, needs torch: ./stb install models")
        return
    (overall,) = scores.dimensions
    console.print(bot_scores_table(overall, "FED of the same dialogues, overall"))
    r2 = None if overall.baseline is None else overall.baseline.r2
    explained = "" if r2 is None else f" Length alone explains {r2:.0%} of the scores' variance."
    console.print(
        "A tiny scorer, trained on the sample corpus, knows little of quality:"
        f" beside each score stands what the length of the dialogues alone says.{explained}"
    )
