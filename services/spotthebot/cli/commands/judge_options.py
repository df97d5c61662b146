"""Options of commands that ask a judge, what such a judge uses on this machine, and what its answers took."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from spotthebot.cli.commands.option_groups import adding
from spotthebot.cli.commands.options import NAMED
from spotthebot.contracts.annotation.judges import EndpointJudge, JudgeVersionOut
from spotthebot.judges.labellers import Surroundings
from spotthebot.judges.opinions import Usage
from spotthebot.kit.outbound.addresses import Network, networks
from spotthebot.local.progress import say
from spotthebot.local.runtime.session import Clients
from spotthebot.local.seeding import simulated_annotators

_CACHE: Final = Path("~/.cache/spotthebot/judges")
Judge = Annotated[str, typer.Argument(metavar="JUDGE", help="Name of the judge.")]
Version = Annotated[int | None, typer.Option("--version", min=1, help="Version of the judge; else its newest.")]
OfCampaign = Annotated[str, typer.Option("--campaign", metavar="CAMPAIGN", help=f"{NAMED} the campaign.")]
AtOnce = Annotated[int, typer.Option(min=1, max=200, help="Items that are labelled at the same time.")]


@dataclass(frozen=True)
class OnThisMachine:
    """The options of what a judge uses on this machine."""

    networks: Sequence[Network]
    cache: Path
    folder: Path | None
    device: str

    def surroundings(self, clients: Clients) -> Surroundings:
        """Return what judges use, with the clients of the services and the environment of this process."""
        return Surroundings(
            annotation=clients.annotation,
            fed=lambda: clients.fed,
            environment=os.environ,
            networks=self.networks,
            cache=self.cache,
            simulated=lambda seed: simulated_annotators(1, seed=seed)[0],
            folder=self.folder,
            device=self.device,
        )


def _on_this_machine(
    allow_network: Annotated[
        list[str] | None,
        typer.Option(
            help="Network whose addresses may be called, such as 127.0.0.0/8 for a model on this machine; repeatable. "
            "Public addresses always may."
        ),
    ] = None,
    cache: Annotated[Path, typer.Option(help="Folder that keeps paid answers.", file_okay=False)] = _CACHE,
    folder: Annotated[
        Path | None, typer.Option(help="Folder of a trained judge's files.", exists=True, file_okay=False)
    ] = None,
    device: Annotated[str, typer.Option(help="Where a trained network runs: cpu, cuda, cuda:1 ...")] = "cpu",
) -> OnThisMachine:
    """Read the options; raises BadParameter for a network that is none."""
    try:
        allowed = networks(allow_network or [])
    except ValueError as error:
        message = f"--allow-network: {error}"
        raise typer.BadParameter(message) from error
    return OnThisMachine(allowed, cache.expanduser(), folder, device)


asks_on_this_machine = adding(_on_this_machine, "machine")
"""A decorator that adds what a judge uses on this machine to a command. Its argument `machine` has the values."""


def say_endpoint(judge: JudgeVersionOut) -> None:
    """Print where a judge is asked, or that it is a rule."""
    settings = judge.settings
    if isinstance(settings, EndpointJudge):
        key = f" with the key in {settings.key_variable}" if settings.key_variable else ""
        say(f"Asks {settings.model} at {settings.base_url}{key}")
    elif settings.kind == "simulated":
        say("A simulated judge follows a written rule: its labels say nothing about people.")


def say_usage(judge: JudgeVersionOut, usage: Usage) -> None:
    """Print the requests, tokens and cost of a judge behind an endpoint, or that it is not known to have any."""
    kind = judge.settings.kind
    if not usage.requests:
        if kind not in {"endpoint", "plugin"}:
            say(f"Tokens and cost: none, since a judge of the kind '{kind}' asks no endpoint")
        elif kind == "plugin":
            say("Tokens and cost: unknown, since a plug-in does not state them")
        return
    say(f"Requests: {usage.requests}, of which {usage.cached} were answered from the cache")
    say(f"Tokens: {_known(usage.input_tokens)} of prompts, {_known(usage.output_tokens)} of answers")
    currency = judge.settings.currency if isinstance(judge.settings, EndpointJudge) else None
    if currency is None:
        say("Cost: unknown, since the judge has no input_price, output_price and currency")
    elif usage.cost is None:
        say("Cost: unknown, since the endpoint did not count all tokens")
    else:
        say(f"Cost: {usage.cost:.4f} {currency}, of which {_known(usage.paid)} were paid now")


def _known(count: float | None) -> str:
    return "an unknown number" if count is None else f"{count:,}" if isinstance(count, int) else f"{count:.4f}"
