"""What `./stb` has to know of its commands before anything is installed: their helps and their options."""

import json
from pathlib import Path
from typing import Any

import typer

from spotthebot.cli.command_table import COMMANDS
from spotthebot.cli.lazy import LISTS, Command, CommandGroup, CommandTable, load_command

COMMANDS_FILE = Path("tools", "commands.json")
"""From a clone's root: made by `./stb docs`."""
_WIDTH = 80


def commands_text(app: typer.Typer) -> str:
    """Return all commands of an application as JSON.

    Each has `help` (its text, 80 columns wide) and `options` (whether each takes a value); a command has
    `passes_arguments_on`, a group has `commands`, and `default`: the one that runs where none is named, or null.
    """
    described = _describe("./stb", typer.main.get_command(app), COMMANDS, None)
    return json.dumps(described, indent=1, ensure_ascii=False) + "\n"


def _describe(
    name: str,
    command: Any,  # noqa: ANN401 - typer's own click
    entry: Command | CommandTable,
    parent: Any,  # noqa: ANN401 - typer's own click
) -> dict[str, Any]:
    command.rich_markup_mode = None  # without boxes, for every terminal
    context = command.context_class(
        command, info_name=name, parent=parent, terminal_width=_WIDTH, **command.context_settings
    )
    takes_value = {
        word: not (each.is_flag or each.count)
        for each in command.get_params(context)
        if each.param_type_name == "option"
        for word in (*each.opts, *each.secondary_opts)
    }
    described: dict[str, Any] = {"help": command.get_help(context), "options": dict(sorted(takes_value.items()))}
    if isinstance(entry, Command):
        return described | {"passes_arguments_on": entry.passes_arguments_on}
    below = {
        word: _describe(
            word, load_command(word, held), held.commands if isinstance(held, CommandGroup) else held, context
        )
        for word, held in entry.items()
    }
    return described | {"default": LISTS if LISTS in entry else None, "commands": below}
