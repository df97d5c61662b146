"""`stb backup` and `stb restore`: all data of a suite, in one file."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy.engine import make_url

from spotthebot.cli.commands.local_commands import on_this_machine
from spotthebot.cli.commands.options import DataDir, check_output, folder_at, suite_at
from spotthebot.local.errors import AlreadyRunning
from spotthebot.local.postgres.cluster import Cluster, running_admin_url
from spotthebot.local.progress import only_errors, say, showing_progress
from spotthebot.local.runtime.bootstrap import (
    DATABASE_NAME,
    DATABASE_URL_VARIABLE,
    database_passwords,
    database_server,
    prepare_database,
)
from spotthebot.local.runtime.data_folder import DEFAULT_DATA_DIR, DataFolder
from spotthebot.local.runtime.local_settings import local_settings
from spotthebot.operations.backups.creation import BackupContents, create_backup
from spotthebot.operations.backups.errors import BackupExists, SuiteStarting
from spotthebot.operations.backups.restoration import checked_backup, restore_backup
from spotthebot.operations.deployment import Deployment, deployment_here
from spotthebot.operations.deployment import prepare_database as prepare_deployed_database

_BYTES_PER_MEGABYTE = 10**6


@on_this_machine
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File to write, such as spotthebot-monday.zip.")],
    with_keys: Annotated[
        bool,
        typer.Option(
            "--keys/--no-keys",
            help="Whether FILE contains the keys of encrypted secrets. Without them, keep the files *.key of the data "
            "folder: no secret can be read again without its key.",
        ),
    ] = True,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE where it is there already.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only, as cron needs it.")] = False,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Write all data of the suite to one file, whether it runs or not."""
    deployment = deployment_here()
    elsewhere = deployment.admin_url if deployment else os.environ.get(DATABASE_URL_VARIABLE)
    folder = folder_at(data_dir) if elsewhere else suite_at(data_dir)  # one elsewhere has no folder
    check_output(file)
    if file.exists() and not overwrite:
        raise BackupExists(path=file)
    folder.create()
    with only_errors(quiet=quiet):
        with _database_of(folder, elsewhere) as admin_url, local_settings(folder) as local, showing_progress() as steps:
            made = create_backup(file, admin_url, DATABASE_NAME, local.environment, steps, with_keys=with_keys)
        folder.keep_backup(made.path)
        say(f"{made.path}: {_size(made)}, the database ({made.schemas} schemas), {_models(made)}, {_keys(made)}.")
        if made.keys:
            say("Keep it as you keep passwords: with its keys, what is encrypted in it can be read.")
        elif not with_keys:
            say(f"Keep the files *.key of {folder.path} elsewhere: without them encrypted secrets are lost.")


@on_this_machine
def restore(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="File that ./stb backup wrote.")
    ],
    replace: Annotated[bool, typer.Option("--replace", help="Replace the database that is there, for good.")] = False,
    partial: Annotated[
        bool, typer.Option("--partial", help="Restore a backup that lacks a service's data, which are empty then.")
    ] = False,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Restore a suite from a backup; an existing database is replaced only with --replace.

    If SPOTTHEBOT_SECRETS_DIR names the secrets of a deployment, the database's roles keep the passwords in these
    secrets.
    """
    folder = folder_at(data_dir)
    deployment = deployment_here()
    if (holder := folder.holder()) is not None:
        raise AlreadyRunning(folder=folder.path, pid=holder, option=folder.option)
    with showing_progress() as steps, checked_backup(file, steps, partial=partial) as opened:
        folder.create()
        with (
            folder.lock(),
            _server_of(folder, deployment) as (admin_url, cluster),
            local_settings(folder) as local,
        ):
            passwords = deployment.passwords if deployment else database_passwords(folder)
            made = restore_backup(
                opened, admin_url, DATABASE_NAME, local.environment, steps, passwords=passwords, replace=replace
            )
            if deployment:
                asyncio.run(prepare_deployed_database(deployment))
            else:
                prepare_database(folder, admin_url, cluster)
    say(f"The suite is as it was at {made.created_at}: the database, {_models(made)}, {_keys(made)}.")
    if not made.keys:
        say(f"If it had secrets, put its files *.key into {folder.path}; without them give bots new ones.")
    start = "Start its containers" if deployment else f"Start it with ./stb up{folder.option}"
    say(f"{start}. What happened after that moment is gone; events since then may be sent once more.")


@contextmanager
def _server_of(folder: DataFolder, deployment: Deployment | None) -> Iterator[tuple[str, Cluster | None]]:
    if deployment:
        yield deployment.admin_url, None
        return
    with database_server(folder) as server:
        yield server


@contextmanager
def _database_of(folder: DataFolder, given: str | None) -> Iterator[str]:
    """Yield the superuser's URL of the suite's database. If the database is stopped, it runs during the block."""
    if given:
        yield given
        return
    if (holder := folder.holder()) is None:
        with folder.lock(), database_server(folder) as (admin_url, _):
            yield admin_url
        return
    state = folder.read_state()
    if state is None:
        raise SuiteStarting(folder=folder.path, pid=holder)
    yield running_admin_url(folder.path, make_url(next(iter(state.database_owner_urls.values()))).port or 0)


def _size(made: BackupContents) -> str:
    return f"{made.bytes / _BYTES_PER_MEGABYTE:,.1f} MB"


def _models(made: BackupContents) -> str:
    return f"{made.models} file{'' if made.models == 1 else 's'} of models"


def _keys(made: BackupContents) -> str:
    return f"{len(made.keys)} encryption keys" if made.keys else "no encryption keys"
