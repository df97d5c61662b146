"""Shared by the commands that list, show and change resources: their connection, and the question before a removal."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel

from spotthebot.cli.commands.options import write_json
from spotthebot.cli.commands.questions import confirmed, is_interactive
from spotthebot.cli.errors import NobodyToAsk
from spotthebot.cli.resources.resolver import Directory, NamedBy
from spotthebot.local.progress import say
from spotthebot.local.runtime.session import Clients, Services, connect, open_session

Resource = TypeVar("Resource", bound=NamedBy)
Answer = TypeVar("Answer")
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def ask(services: Services, work: Callable[[Clients], Awaitable[Answer]]) -> Answer:
    """Call `work` with clients of the services and return its answer. For commands, which have no event loop."""

    async def run() -> Answer:
        async with connect(session) as clients:
            return await work(clients)

    with open_session(services) as session:
        return asyncio.run(run())


def list_all(services: Services, directory: Callable[[Clients], Directory[Resource]]) -> list[Resource]:
    """Return all resources of a kind, oldest first."""

    async def read(clients: Clients) -> list[Resource]:
        return [each async for each in directory(clients).list()]

    return ask(services, read)


def print_json(result: BaseModel | dict[str, Any]) -> None:
    """Print an answer of the API as JSON, or a dictionary of several answers."""
    write_json(Path("-"), result.model_dump(mode="json") if isinstance(result, BaseModel) else result)


def dumped(found: list[Any]) -> list[dict[str, Any]]:
    """Return answers of the API as JSON values."""
    return [each.model_dump(mode="json") for each in found]


async def confirm(what: str, *, yes: bool) -> None:
    """Print the sentence `what` about the effects, and ask for a confirmation unless `yes`.

    Raises NobodyToAsk without a terminal.
    """
    say(what)
    if yes:
        return
    if not is_interactive():
        raise NobodyToAsk
    if not await confirmed("Go on?"):
        say("Nothing was changed.")
        raise typer.Exit(1)
