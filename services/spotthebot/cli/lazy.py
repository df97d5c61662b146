"""A group of commands that imports a command's module only when the command runs.

A table has the help of all commands.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Final

import typer
from typer.core import TyperCommand, TyperGroup

from spotthebot.cli.clone import find_tools, has_tools

_HELP = {"help_option_names": ["-h", "--help"]}
"""Commands in the group inherit these settings."""
_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


@dataclass(frozen=True)
class Command:
    """A function in a module that runs a command. `help` is the first sentence of the function's docstring."""

    module: str
    function: str
    help: str
    passes_arguments_on: bool = False
    """Whether the command passes unknown arguments to the program that it runs."""
    of_clone: bool = False
    """Whether the command's module is in a clone's folder `tools`.

    An installed package knows only the command's name.
    """


@dataclass(frozen=True)
class CommandGroup:
    """Commands with a common first word, such as `keys` in `stb keys create`."""

    help: str
    commands: Mapping[str, Command]


CommandTable = Mapping[str, Command | CommandGroup]
LISTS: Final = "list"
"""The command that runs if a group with this command is called without a command: `./stb keys` lists keys."""


class LazyGroup(TyperGroup):
    """A group of the commands in `table`. Each subclass has its own table."""

    table: ClassVar[CommandTable] = {}

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - typer's own click
        """Make a command for each entry of the table, with its name and help only. A list of commands needs no more."""
        super().__init__(**settings)
        self.commands = {
            name: TyperCommand(name, help=entry.help, short_help=entry.help, hidden=not _is_here(entry))
            for name, entry in self.table.items()
        }

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - typer's own click
        """Parse the arguments.

        If they name no command, they are arguments of the command `list`, if the group has it.
        """
        first = args[0] if args else "-"
        if LISTS in self.table and first.startswith("-") and first not in ctx.help_option_names:
            args = [LISTS, *args]
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - typer's own click
        """Import and return the command that the arguments name."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else load_command(name, self.table[name]), rest


def _no_options() -> None:
    """Define no options for the group."""


def lazy_app(
    table: CommandTable,
    *,
    help: str,  # noqa: A002 - typer's word
    name: str | None = None,
    options: Callable[..., None] = _no_options,
) -> typer.Typer:
    """Return an application that imports each command when it runs.

    `options` defines the options of the group itself.
    """
    group = type("Group", (LazyGroup,), {"table": table})
    app = typer.Typer(
        name=name,
        cls=group,
        help=help,
        epilog=f"Without a command: {LISTS}." if LISTS in table else None,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings=_HELP,
    )
    app.callback()(options)
    return app


def _is_here(entry: Command | CommandGroup) -> bool:
    return isinstance(entry, CommandGroup) or not entry.of_clone or has_tools()


def load_command(name: str, entry: Command | CommandGroup) -> Any:  # noqa: ANN401 - typer's own click
    """Import the command of a table's entry; raises NotAClone for a command that needs a clone if this is none."""
    if isinstance(entry, CommandGroup):
        app = lazy_app(entry.commands, name=name, help=entry.help)
    else:
        if entry.of_clone:
            find_tools()
        app = typer.Typer(pretty_exceptions_enable=False, add_completion=False)
        settings = _PASS_ON if entry.passes_arguments_on else None
        app.command(name, context_settings=settings)(getattr(import_module(entry.module), entry.function))
    command = typer.main.get_command(app)
    for option in command.params:
        if getattr(option, "is_flag", False):
            option.metavar = ""  # help would show a flag as if it took a value: --keep <bool>
    return command
