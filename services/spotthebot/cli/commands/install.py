"""`stb install`: installs optional parts, which are too large for a normal installation."""

from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from spotthebot.kit.errors import Unavailable
from spotthebot.local.progress import screen


class Part(StrEnum):
    """The optional parts of the suite."""

    MODELS = "models"


class PartMissing(Unavailable):
    """{package} is not installed: run `./stb install {part}` in a clone, elsewhere `pip install spotthebot[{part}]`."""


def install(
    part: Annotated[Part, typer.Argument(help="models: torch and transformers, to train, host and score with models.")],
) -> None:
    """Install an optional part. The script `./stb` installs it before this command runs."""
    for package in ("torch", "transformers"):
        try:
            screen.print(f"{package} {version(package)}", highlight=False)
        except PackageNotFoundError as error:
            raise PartMissing(package=package, part=part.value) from error
