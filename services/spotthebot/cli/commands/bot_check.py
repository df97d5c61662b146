"""`stb bots check`: checks the conformance of a bot, on the machine where the bot is developed."""

import asyncio
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from spotthebot.cli.commands.bot_protocols import (
    ProtocolFields,
    ReplyTimeout,
    SecretFrom,
    print_findings,
    read_protocol,
    read_secret,
)
from spotthebot.cli.commands.options import AsJson, write_json
from spotthebot.contracts.bots.registry import Limits
from spotthebot.local.conformance_check import check_bot

_SECONDS = 120.0


class RemoteKind(StrEnum):
    """The protocols that a bot at a URL can have."""

    WEBHOOK = "webhook"
    OPENAI = "openai"
    PARLAI = "parlai"
    TRITON = "triton"


def check(
    url: Annotated[str, typer.Argument(help="Where the bot is: what would be registered as its URL.")],
    protocol: Annotated[RemoteKind, typer.Option(help="How it is asked.")] = RemoteKind.WEBHOOK,
    model: Annotated[str | None, typer.Option(help="openai and triton: the server's name of the model.")] = None,
    options: ProtocolFields = None,
    secret_from: SecretFrom = None,
    timeout: ReplyTimeout = 30.0,
    as_json: AsJson = False,
) -> None:
    """Run the conformance kit on a bot, as registration does; exit code 1 if a check failed."""
    request = read_protocol(protocol, url=url, model=model, fields=options)
    limits = Limits(timeout_seconds=timeout)
    report = asyncio.run(check_bot(request, read_secret(secret_from), limits, seconds=_SECONDS))
    if as_json:
        write_json(Path("-"), report.model_dump(mode="json"))
    else:
        print_findings(report)
    if not report.passed:
        raise typer.Exit(1)
