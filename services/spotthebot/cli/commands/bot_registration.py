"""`stb bots register`: registers a bot or its next version, and prints the findings of its probe."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

import typer
from pydantic import SecretStr, ValidationError

from spotthebot.cli.commands.bot_protocols import (
    ProtocolFields,
    ReplyTimeout,
    SecretFrom,
    print_findings,
    read_protocol,
    read_secret,
)
from spotthebot.cli.commands.bots import print_bot
from spotthebot.cli.commands.options import NAMED, AsJson
from spotthebot.cli.commands.resource_commands import ask, print_json
from spotthebot.cli.commands.service_options import takes_services
from spotthebot.cli.declarations.names import is_id
from spotthebot.cli.resources.directories import Bots, Corpora
from spotthebot.cli.resources.resolver import find
from spotthebot.contracts.bots.protocols import Protocol
from spotthebot.contracts.bots.registry import BotIn, BotOut, BotVersionIn, Limits
from spotthebot.kit.ids import new_id
from spotthebot.kit.text.validation import faults_of
from spotthebot.local.progress import say
from spotthebot.local.runtime.session import Clients, Services


class BotKind(StrEnum):
    """The protocols that a bot can have."""

    WEBHOOK = "webhook"
    OPENAI = "openai"
    PARLAI = "parlai"
    TRITON = "triton"
    TRANSFORMERS = "transformers"
    BUILTIN = "builtin"


@takes_services
def register(
    services: Services,
    name: Annotated[str, typer.Argument(help="What the bot is called; yours is the only one of that name.")],
    bot_url: Annotated[
        str | None, typer.Argument(metavar="BOT_URL", help="Where the bot is; builtin and transformers have none.")
    ] = None,
    protocol: Annotated[BotKind, typer.Option(help="How it is asked.")] = BotKind.WEBHOOK,
    model: Annotated[str | None, typer.Option(help="All but webhook and parlai: the name of the model.")] = None,
    corpus: Annotated[str | None, typer.Option(help=f"builtin: {NAMED.lower()} the corpus to learn from.")] = None,
    options: ProtocolFields = None,
    secret_from: SecretFrom = None,
    domain: Annotated[list[str], typer.Option(help="What it can talk about; can be given again.")] = ["everyday"],  # noqa: B006 - typer's default
    description: Annotated[str, typer.Option(help="For people.")] = "",
    timeout: ReplyTimeout = 30.0,
    concurrency: Annotated[int, typer.Option(min=1, max=1024, help="Questions at the same time at most.")] = 32,
    public: Annotated[
        bool, typer.Option("--public", help="Other teams see its name in results of campaigns that both take part in.")
    ] = False,
    next_version: Annotated[
        bool, typer.Option("--next-version", help="The bot is there: ask it this way from now on; all else stays.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Register a bot and probe it; exit code 1 if it can't take part yet.

    With a team's key, the bot belongs to the team.
    """
    asked = read_protocol(protocol, url=bot_url, model=model, fields=options)
    secret = read_secret(secret_from)
    described = {
        "name": name,
        "domains": tuple(domain),
        "description": description,
        "limits": Limits(timeout_seconds=timeout, concurrency=concurrency),
        "public": public,
    }
    request = _request(asked, secret, described)
    if corpus is not None and protocol is not BotKind.BUILTIN:
        message = "--corpus is for --protocol builtin: other bots learned before they are registered"
        raise typer.BadParameter(message)

    async def send(clients: Clients) -> BotOut:
        learning = {} if corpus is None else {"corpus_id": await _corpus_id(clients, corpus)}
        version = BotVersionIn(protocol=asked.model_copy(update=learning), secret=request.secret)
        if next_version:
            there = await find(Bots(clients), name)
            added = await clients.bots.add_bot_version(there.id, version, idempotency_key=new_id().hex)
            async for each in clients.bots.list_bot_versions(there.id):
                if each.number < added.version and each.configuration_sha256 == added.configuration_sha256:
                    say(f"Version {added.version} has the configuration of version {each.number}.")
            return added
        whole = request.model_copy(update={"protocol": version.protocol})
        return await clients.bots.register_bot(whole, idempotency_key=new_id().hex)

    made = ask(services, send)
    if as_json:
        print_json(made)
    else:
        print_bot(made)
        if made.probe is not None:
            print_findings(made.probe)
    if made.probe is not None and not made.probe.passed:
        say("It is registered, and probed again from time to time, or at once by ./stb bots probe;")
        say("--next-version asks it in another way.")
        raise typer.Exit(1)


async def _corpus_id(clients: Clients, corpus: str) -> UUID:
    """Return the id of a corpus.

    An id is returned unchecked, since a team may learn from corpora that it can't list.
    """
    return UUID(corpus) if is_id(corpus) else (await find(Corpora(clients), corpus)).id


def _request(protocol: Protocol, secret: str | None, described: Mapping[str, Any]) -> BotIn:
    try:
        return BotIn(protocol=protocol, secret=None if secret is None else SecretStr(secret), **described)
    except ValidationError as error:
        raise typer.BadParameter(faults_of(error)[0]) from None
