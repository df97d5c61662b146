"""`stb bots check`: the conformance kit, from the machine where a bot is developed."""

import asyncio
import json
import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter, ValidationError
from rich.table import Table

from spotthebot.bots.conformance_check import check_bot
from spotthebot.contracts.bots import Limits, ProbeReport, Protocol, Verdict
from spotthebot.kit.errors import Invalid
from spotthebot.kit.validation import faults_of
from spotthebot.suite.cli.options import AsJson, write_json
from spotthebot.suite.progress import screen

_SECONDS = 120.0
_COLOURS = {Verdict.PASSED: "green", Verdict.NOTED: "blue", Verdict.WARNED: "yellow", Verdict.FAILED: "red"}
_protocols: TypeAdapter[Protocol] = TypeAdapter(Protocol)


class RemoteKind(StrEnum):
    """Protocols of bots that are at a URL."""

    WEBHOOK = "webhook"
    OPENAI = "openai"
    PARLAI = "parlai"
    TRITON = "triton"


class NotAProtocol(Invalid):
    """What was given describes no {kind} bot: {reason}."""


def check(
    url: Annotated[str, typer.Argument(help="Where the bot is: what would be registered as its URL.")],
    protocol: Annotated[RemoteKind, typer.Option(help="How it is asked.")] = RemoteKind.WEBHOOK,
    model: Annotated[str | None, typer.Option(help="openai and triton: the server's name of the model.")] = None,
    options: Annotated[
        str | None, typer.Option(help="More fields of the protocol, as JSON: '{\"temperature\": 0.7}'.")
    ] = None,
    secret_from: Annotated[
        str | None,
        typer.Option(help="Environment variable that holds the signing secret or API key, which stays off the screen."),
    ] = None,
    timeout: Annotated[float, typer.Option(min=0.1, max=300, help="Longest time for one reply, in seconds.")] = 30.0,
    as_json: AsJson = False,
) -> None:
    """Run the conformance kit on a bot, as registration does; exit code 1 where something failed."""
    request = _protocol(protocol, url, model, options)
    limits = Limits(timeout_seconds=timeout)
    report = asyncio.run(check_bot(request, _secret(secret_from), limits, seconds=_SECONDS))
    if as_json:
        write_json(Path("-"), report.model_dump(mode="json"))
    else:
        _print(report)
    if not report.passed:
        raise typer.Exit(1)


def _protocol(kind: RemoteKind, url: str, model: str | None, options: str | None) -> Protocol:
    fields: dict[str, Any] = {"kind": kind.value, "base_url" if kind is RemoteKind.OPENAI else "url": url}
    try:
        fields |= {"model": model} if model else {}
        fields |= json.loads(options) if options else {}
        return _protocols.validate_python(fields)
    except ValidationError as error:
        faults = [each.removeprefix(f"{kind.value}.") for each in faults_of(error, separator=".")]
        raise NotAProtocol(kind=kind.value, reason="; ".join(faults)) from error
    except (ValueError, TypeError) as error:
        raise NotAProtocol(kind=kind.value, reason=f"--options is no JSON object ({error})") from error


def _secret(variable: str | None) -> str | None:
    if variable is None:
        return None
    if not (secret := os.environ.get(variable)):
        raise NotAProtocol(kind="such", reason=f"the environment variable {variable} is not set")
    return secret


def _print(report: ProbeReport) -> None:
    table = Table("Check", "Verdict", "Finding")
    for finding in report.findings:
        colour = _COLOURS.get(finding.verdict, "dim")
        table.add_row(
            finding.check, f"[{colour}]{finding.verdict.value}[/{colour}]", finding.detail.replace("[", r"\[")
        )
    screen.print(table)
    conclusion = "The bot can take part." if report.passed else "The bot can't take part yet."
    screen.print(f"{conclusion} {report.questions} questions in {report.seconds:.1f} s.", highlight=False)
