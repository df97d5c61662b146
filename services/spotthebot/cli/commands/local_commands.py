"""Marks commands that work only with the suite on this machine. Imports no service and no HTTP library."""

import os
from collections.abc import Callable
from typing import Annotated, Final

import typer

from spotthebot.cli.commands.option_groups import Command, adding
from spotthebot.local.progress import say

URL_VARIABLE: Final = "SPOTTHEBOT_URL"
"""Has the address of services on another machine, for commands that can use them."""
KEY_VARIABLE: Final = "SPOTTHEBOT_KEY"
"""Has the API key with which commands send requests, on this machine and elsewhere."""
_Url = Annotated[str | None, typer.Option("--url", hidden=True)]
_Key = Annotated[str | None, typer.Option("--key", hidden=True)]


def _staying_here(why: str = "") -> Callable[[Command], Command]:
    def nowhere_else(context: typer.Context, url: _Url = None, key: _Key = None) -> None:
        """Refuse `--url` and `--key`, and say that an address or key in the environment is ignored."""
        command = f"./stb {context.command_path.partition(' ')[2]}"
        if url is not None or key is not None:
            message = f"'{command}' works only on the machine of the suite: leave out --url and --key{why}"
            raise typer.BadParameter(message)
        for variable in (URL_VARIABLE, KEY_VARIABLE):
            if os.environ.get(variable):
                say(f"{variable} does not count: '{command}' works on the machine of the suite alone{why}.")

    return adding(nowhere_else)


on_this_machine = _staying_here()
"""A decorator of commands that need the data folder or the database. They refuse --url."""
with_the_database = _staying_here(", since no service may write API keys: one that leaks makes no others")
"""A decorator of commands for API keys, which services may only read."""
