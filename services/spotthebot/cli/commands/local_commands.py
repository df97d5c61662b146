"""Commands that work with the suite of this machine alone. Imports no service and no HTTP library."""

import os
from collections.abc import Callable
from typing import Annotated, Final

import typer

from spotthebot.cli.commands.option_groups import Command, adding
from spotthebot.local.progress import say

URL_VARIABLE: Final = "SPOTTHEBOT_URL"
"""The address of services that run elsewhere, for commands that can work with them."""
KEY_VARIABLE: Final = "SPOTTHEBOT_KEY"
"""The API key that decides who works with them, here and elsewhere."""
_Url = Annotated[str | None, typer.Option("--url", hidden=True)]
_Key = Annotated[str | None, typer.Option("--key", hidden=True)]


def _staying_here(why: str = "") -> Callable[[Command], Command]:
    def nowhere_else(context: typer.Context, url: _Url = None, key: _Key = None) -> None:
        """Refuse an address where a command works on this machine alone, and say so of one in the environment."""
        command = f"./stb {context.command_path.partition(' ')[2]}"
        if url is not None or key is not None:
            message = f"'{command}' works only on the machine of the suite: leave out --url and --key{why}"
            raise typer.BadParameter(message)
        for variable in (URL_VARIABLE, KEY_VARIABLE):
            if os.environ.get(variable):
                say(f"{variable} does not count: '{command}' works on the machine of the suite alone{why}.")

    return adding(nowhere_else)


on_this_machine = _staying_here()
"""For commands that need the data folder or the database: says that --url is not for them."""
with_the_database = _staying_here(", since no service may write API keys: one that leaks makes no others")
"""For commands that change what services may only read."""
