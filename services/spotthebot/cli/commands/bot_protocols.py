"""Reads a bot's protocol from the options of a command, and prints the findings of a probe."""

import json
import os
from enum import StrEnum
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter, ValidationError
from rich.table import Table

from spotthebot.contracts.bots.probes import ProbeReport, Verdict
from spotthebot.contracts.bots.protocols import Protocol
from spotthebot.kit.errors import Invalid
from spotthebot.kit.text.validation import faults_of
from spotthebot.local.progress import screen

_COLOURS = {Verdict.PASSED: "green", Verdict.NOTED: "blue", Verdict.WARNED: "yellow", Verdict.FAILED: "red"}
_protocols: TypeAdapter[Protocol] = TypeAdapter(Protocol)
ProtocolFields = Annotated[
    str | None, typer.Option("--options", help="More fields of the protocol, as JSON: '{\"temperature\": 0.7}'.")
]
SecretFrom = Annotated[
    str | None,
    typer.Option(help="Environment variable that holds the signing secret or API key, which stays off the screen."),
]
ReplyTimeout = Annotated[
    float, typer.Option("--timeout", min=0.1, max=300, help="Longest time for one reply, in seconds.")
]


class NotAProtocol(Invalid):
    """The options don't describe a valid {kind} bot: {reason}."""


def read_protocol(kind: StrEnum, *, url: str | None, model: str | None, fields: str | None) -> Protocol:
    """Return the protocol that the options describe; raises NotAProtocol.

    `fields` is JSON with more fields of the protocol.
    """
    given: dict[str, Any] = {"kind": kind.value}
    if url is not None:
        given["base_url" if kind.value == "openai" else "url"] = url
    try:
        given |= {"model": model} if model else {}
        given |= json.loads(fields) if fields else {}
        return _protocols.validate_python(given)
    except ValidationError as error:
        faults = [each.removeprefix(f"{kind.value}.") for each in faults_of(error, separator=".")]
        raise NotAProtocol(kind=kind.value, reason="; ".join(faults)) from error
    except (ValueError, TypeError) as error:
        raise NotAProtocol(kind=kind.value, reason=f"--options is not a JSON object ({error})") from error


def read_secret(variable: str | None) -> str | None:
    """Return the secret in an environment variable; None without a variable. Raises NotAProtocol if it is not set."""
    if variable is None:
        return None
    if not (secret := os.environ.get(variable)):
        raise NotAProtocol(kind="such", reason=f"the environment variable {variable} is not set")
    return secret


def print_findings(report: ProbeReport) -> None:
    """Print the finding of each check of a probe. Say at the end whether the bot can take part in collections."""
    table = Table("Check", "Verdict", "Finding")
    for finding in report.findings:
        colour = _COLOURS.get(finding.verdict, "dim")
        detail = finding.detail.replace("[", r"\[")
        table.add_row(finding.check, f"[{colour}]{finding.verdict.value}[/{colour}]", detail)
    screen.print(table)
    conclusion = "The bot can take part." if report.passed else "The bot can't take part yet."
    took = "" if report.seconds is None else f" in {report.seconds:.1f} s"
    screen.print(f"{conclusion} {report.questions} questions{took}.", highlight=False)
