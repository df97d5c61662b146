"""`stb env SERVICE`: prints the environment of one service, in order to run the service in a debugger."""

import os
import shlex
import sys
from typing import Annotated

import typer

from spotthebot.cli.commands.local_commands import on_this_machine
from spotthebot.cli.commands.options import DataDir, suite_at
from spotthebot.cli.errors import NothingRuns, SecretsWithheld
from spotthebot.contracts.services import SERVICE_NAMES, get_service
from spotthebot.local.progress import screen
from spotthebot.local.runtime.data_folder import DEFAULT_DATA_DIR, DataFolder


@on_this_machine
def env(
    service: Annotated[str, typer.Argument(help="Name of the service.")],
    secrets: Annotated[
        bool, typer.Option("--secrets", help="Print secrets to a file or a pipe too, not only to a terminal.")
    ] = False,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Print the environment of a service of the running suite.

    It contains secrets. Without --secrets, it is printed only to a terminal.
    """
    if service not in SERVICE_NAMES:
        message = f"there is no service {service}: choose among {', '.join(SERVICE_NAMES)}"
        raise typer.BadParameter(message, param_hint="SERVICE")
    folder = suite_at(data_dir)
    state = folder.read_state()
    if state is None:
        raise NothingRuns(folder=folder.path, option=folder.option)
    _check_reader(folder, secrets=secrets)
    entry = get_service(service)
    port = state.urls[service].rpartition(":")[2]
    for name, value in sorted(state.environments[service].items()):
        typer.echo(f"export {name}={shlex.quote(value)}")
    password = "" if entry.schema is None else "a database password and "
    screen.print(f"These lines hold {password}an API key: keep them to yourself.", highlight=False)
    screen.print(f"Run it: python -m {entry.package} serve --port {port}", markup=False, highlight=False)
    if entry.has_worker:
        screen.print(f"Its worker: python -m {entry.package} work", markup=False, highlight=False)


def _check_reader(folder: DataFolder, *, secrets: bool) -> None:
    """Raise SecretsWithheld if a person other than the data folder's owner could read the output."""
    if secrets:
        return
    if folder.path.stat().st_uid != os.geteuid():
        raise SecretsWithheld(reason=f"The environment holds secrets of the owner of {folder.path}")
    if not sys.stdout.isatty():
        raise SecretsWithheld(reason="The environment holds secrets, and the output is not a terminal")
