"""Shared by commands that read a declaration: the option `--schema`, and exit code 2 with all faults of the file."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel

from spotthebot.cli.declarations.declared import schema_text
from spotthebot.cli.declarations.errors import DeclarationFaulty
from spotthebot.local.progress import say, screen

Schema = Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of the file's form.")]
_WRONG_USAGE = 2


def print_schema(model: type[BaseModel]) -> None:
    """Print the JSON Schema of a declaration's model."""
    sys.stdout.write(schema_text(model) + "\n")


def required(file: Path | None) -> Path:
    """Return the file. Raises a usage error if it is missing: only `--schema` needs no file."""
    if file is None:
        message = "name a file, or --schema"
        raise typer.BadParameter(message)
    return file


@contextmanager
def declaration_faults() -> Iterator[None]:
    """Print each fault of a declaration with its line and key, and end with exit code 2 for wrong usage."""
    try:
        yield
    except DeclarationFaulty as faulty:
        screen.print("[red]Error:[/red]", highlight=False)
        say(faulty.detail)
        raise typer.Exit(_WRONG_USAGE) from faulty
