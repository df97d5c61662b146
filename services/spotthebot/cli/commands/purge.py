"""`stb purge`: removes a suite and all its data from this machine."""

import os
import shutil
from pathlib import Path
from typing import Annotated

import typer

from spotthebot.cli.clone import ROOT
from spotthebot.cli.commands.local_commands import on_this_machine
from spotthebot.cli.commands.options import DataDir, folder_at
from spotthebot.cli.commands.questions import is_interactive
from spotthebot.cli.errors import FolderNotOurs, NobodyToAsk, NoSuite
from spotthebot.local.errors import AlreadyRunning
from spotthebot.local.postgres.home import disk_errors, find
from spotthebot.local.postgres.removal import remove_cluster
from spotthebot.local.progress import say
from spotthebot.local.runtime.bootstrap import DATABASE_URL_VARIABLE
from spotthebot.local.runtime.data_folder import DEFAULT_DATA_DIR

_BYTES_PER_MEGABYTE = 10**6


@on_this_machine
def purge(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Remove the data folder with all its contents, and PostgreSQL's home. Asks for a confirmation."""
    folder = folder_at(data_dir)
    if not folder.was_used:
        raise NoSuite(folder=folder.path, option=folder.option)
    if (holder := folder.holder()) is not None:
        raise AlreadyRunning(folder=folder.path, pid=holder, option=folder.option)
    for other in (Path.home(), Path.cwd(), ROOT):
        if other.resolve().is_relative_to(folder.path):
            raise FolderNotOurs(folder=folder.path, other=other.resolve())
    home = find(folder.path)
    outside = home is not None and not home.folder.is_relative_to(folder.path)
    places = [folder.path, *([home.folder] if home and outside else [])]
    say("This removes for good:")
    say(f"  {folder.path} ({_size(folder.path)}): {', '.join(sorted(os.listdir(folder.path)))}")  # noqa: PTH208 - names
    if home and outside:
        say(f"  {home.folder} ({_size(home.folder)}): PostgreSQL's home")
    if not yes:
        if not is_interactive():
            raise NobodyToAsk
        typer.confirm("Remove it?", abort=True, err=True)
    with folder.lock():
        if home:
            remove_cluster(home)
        with disk_errors(folder.path):
            shutil.rmtree(folder.path)
    say(f"Removed {' and '.join(map(str, places))}.")
    if os.environ.get(DATABASE_URL_VARIABLE):
        say(f"The database on the server in {DATABASE_URL_VARIABLE} is still there.")


def _size(folder: Path) -> str:
    count = sum(
        os.lstat(os.path.join(parent, name)).st_size  # noqa: PTH118 - a hundred thousand files may be there
        for parent, _, names in os.walk(folder)
        for name in names
    )
    return f"{count / _BYTES_PER_MEGABYTE:,.1f} MB"
