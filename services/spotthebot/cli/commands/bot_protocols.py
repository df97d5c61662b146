"""Reads a bot's protocol from the options of a command, and prints the findings of a probe."""

import json
import os
from enum import StrEnum
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter, ValidationError
from rich.text import Text

from spotthebot.cli.commands.resource_tables import print_list
from spotthebot.contracts.bots.probes import ProbeReport, Verdict
from spotthebot.contracts.bots.protocols import Protocol
from spotthebot.kit.errors import Invalid
from spotthebot.kit.text.validation import faults_of

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


class SecretNotSet(Invalid):
    """The environment variable {variable} is not set in this terminal: write `export {variable}=...` first."""


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
    """Return the secret in an environment variable; None without a variable. Raises SecretNotSet."""
    if variable is None:
        return None
    if not (secret := os.environ.get(variable)):
        raise SecretNotSet(variable=variable)
    return secret


def print_findings(report: ProbeReport) -> None:
    """Print the finding of each check of a probe. Say at the end whether the bot can take part in collections.

    Checks that were skipped for one reason share a line.
    """
    skipped: dict[str, list[str]] = {}
    rows: list[tuple[object, ...]] = []
    for each in report.findings:
        if each.verdict is Verdict.SKIPPED:
            skipped.setdefault(each.detail, []).append(each.check)
        else:
            rows.append((each.check, Text(each.verdict.value, style=_COLOURS[each.verdict]), each.detail))
    rows += [
        (checks[0] if len(checks) == 1 else f"{len(checks)} others", Text("skipped", style="dim"), why)
        for why, checks in skipped.items()
    ]
    print_list(("Check", "Verdict", "Finding"), rows, empty="")
    conclusion = "The bot can take part." if report.passed else "The bot can't take part yet."
    took = "" if report.seconds is None else f" in {report.seconds:.1f} s"
    typer.echo(f"{conclusion} {report.questions} question{'s' * (report.questions != 1)}{took}.")
