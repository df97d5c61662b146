"""`stb provision`: prepares the database of services that run in containers."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from spotthebot.contracts.services import SCHEMAS
from spotthebot.kit.settings import SECRETS_DIR_VARIABLE
from spotthebot.local.progress import say
from spotthebot.operations.deployment import prepare_database, read_deployment


def provision(
    secrets: Annotated[
        Path,
        typer.Option(
            envvar=SECRETS_DIR_VARIABLE,
            metavar="FOLDER",
            help="Folder of files with one secret each: URLs and API keys.",
        ),
    ] = Path("/run/secrets"),
) -> None:
    """Prepare the database of services that run in containers; a second run changes nothing."""
    asyncio.run(prepare_database(read_deployment(secrets)))
    say(f"The database has the roles and schemas of {', '.join(SCHEMAS)}, and the suite's own API keys.")
