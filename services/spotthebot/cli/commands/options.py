"""Options that several commands share, and how they write their results."""

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
"""How the helps of all arguments begin that `cli.resources` finds."""
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def default_data_dir(root: Path) -> Path:
    """Return the data folder of a clone; that of the working directory where `root` is none."""
    return root / ".stb" if (root / "stb").is_file() else Path(".stb")


DEFAULT_DATA_DIR = default_data_dir(Path(__file__).parents[4])


class Source(StrEnum):
    """What `stb import` and `stb analyse` read."""

    SPOT_THE_BOT = "spot-the-bot"


def folder_at(path: Path) -> DataFolder:
    """Return the data folder, which need not exist yet."""
    return DataFolder(path)


def suite_at(path: Path, *, key: str | None = None) -> DataFolder:
    """Return the data folder of a suite that was made before, for commands that read; raises NoSuite.

    With an API key the commands work as that key's owner, else as the suite's administrator.
    """
    folder = DataFolder(path, key=key)
    if not folder.holds_suite:
        raise NoSuite(folder=folder.path)
    return folder


def say_session(session: "Session") -> None:
    """Say which services are used, and whether they are started now, which takes a moment."""
    if isinstance(session.services, Remote):
        say(f"Using the services at {session.services.url} ...")
    else:
        identity = ", with your API key" if session.services.key else ""
        say(f"{'Starting the services' if session.prepared else 'Using the services that run'}{identity} ...")


def check_output(path: Path | None) -> None:
    """Say now, before any work, that a result could not be written; raises OutputNotWritable."""
    if path is None or str(path) == "-":
        return
    if path.is_dir():
        raise OutputNotWritable(path=path, reason="it is a folder.")
    if not path.parent.is_dir():
        raise OutputNotWritable(path=path, reason="its folder does not exist.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise OutputNotWritable(path=path, reason="permission denied.")


def check_folder(path: Path) -> None:
    """Say now that a folder could not be made or written; raises OutputNotWritable."""
    if path.exists() and not path.is_dir():
        raise OutputNotWritable(path=path, reason="it is a file.")
    if not path.exists() and not path.parent.is_dir():
        raise OutputNotWritable(path=path, reason="its folder does not exist.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise OutputNotWritable(path=path, reason="permission denied.")


def write_json(path: Path | None, result: Any) -> None:  # noqa: ANN401 - JSON
    """Write a result whole or not at all."""
    if path is None:
        return
    text = json.dumps(result, indent=2, ensure_ascii=False) + "\n"
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
