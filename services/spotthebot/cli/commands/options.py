"""Options that several commands share, and functions that write the commands' results."""

import json
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spotthebot.cli.errors import NoSuite, OutputNotWritable
from spotthebot.local.progress import say
from spotthebot.local.runtime.data_folder import DataFolder
from spotthebot.local.runtime.kept_settings import load_settings
from spotthebot.local.runtime.remote import Remote

if TYPE_CHECKING:
    from spotthebot.local.runtime.session import Session

DataDir = Annotated[
    Path,
    typer.Option(
        "--data-dir",
        envvar="SPOTTHEBOT_DATA_DIR",
        help="Folder of the suite's data.",
        show_default=".stb beside ./stb",
    ),
]
JsonFile = Annotated[Path | None, typer.Option("--json", help="Write the result to this file, '-' for the screen.")]
NAMED = "Name, id or beginning of the id of"
"""The start of the help of all arguments that `cli.resources` resolves."""
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


class Source(StrEnum):
    """The kinds of published data that `stb import` and `stb analyse` read."""

    SPOT_THE_BOT = "spot-the-bot"


def folder_at(path: Path, *, key: str | None = None) -> DataFolder:
    """Return the data folder at a path, with its settings in the environment. The folder need not exist yet."""
    folder = DataFolder(path, key=key)
    load_settings(folder.path)
    return folder


def suite_at(path: Path, *, key: str | None = None) -> DataFolder:
    """Return the data folder of an existing suite, for commands that read; raises NoSuite.

    With an API key, commands work as the key's owner. Without a key, they work as the suite's administrator.
    """
    folder = folder_at(path, key=key)
    if not folder.holds_suite:
        raise NoSuite(folder=folder.path, option=folder.option)
    return folder


def say_session(session: "Session") -> None:
    """Print which services the command uses, and whether it starts them first."""
    if isinstance(session.services, Remote):
        say(f"Using the services at {session.services.url} ...")
    else:
        identity = ", with your API key" if session.services.key else ""
        say(f"{'Starting the services' if session.prepared else 'Using the services that run'}{identity} ...")


def check_output(path: Path | None) -> None:
    """Check before any work that a result can be written to the path; raises OutputNotWritable."""
    if path is None or str(path) == "-":
        return
    if path.is_dir():
        raise OutputNotWritable(path=path, reason="it is a folder.")
    if not path.parent.is_dir():
        raise OutputNotWritable(path=path, reason="its folder does not exist.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise OutputNotWritable(path=path, reason="permission denied.")


def check_folder(path: Path) -> None:
    """Check before any work that a folder exists or can be created, and is writable; raises OutputNotWritable."""
    if path.exists() and not path.is_dir():
        raise OutputNotWritable(path=path, reason="it is a file.")
    if not path.exists() and path.suffix[1:].isalpha():
        raise OutputNotWritable(path=path, reason="this is the name of a file, and a folder is written.")
    if not path.exists() and not path.parent.is_dir():
        raise OutputNotWritable(path=path, reason="its folder does not exist.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise OutputNotWritable(path=path, reason="permission denied.")


def write_json(path: Path | None, result: Any) -> None:  # noqa: ANN401 - JSON
    """Write a result as JSON, completely or not at all. `-` stands for standard output."""
    if path is None:
        return
    write_text(path, json.dumps(result, indent=2, ensure_ascii=False) + "\n")


def write_text(path: Path | None, text: str) -> None:
    """Write a text, completely or not at all. `-` stands for standard output."""
    if path is None:
        return
    if str(path) == "-":
        sys.stdout.write(text)
        return
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise OutputNotWritable(path=path, reason=f"{error.strerror}.") from error
