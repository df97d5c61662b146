"""The `stb` command line. Exit codes: 0 for success, 1 for failure, 2 for wrong usage."""

import gc
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from spotthebot.cli.clone import has_tools
from spotthebot.cli.command_table import COMMANDS
from spotthebot.cli.lazy import lazy_app
from spotthebot.kit.errors import Error
from spotthebot.local.progress import screen

gc.set_threshold(20_000, 20, 20)  # what commands import stays: looking through it takes a tenth of their start


_CONFLICT = 409


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"Spot The Bot {version('spotthebot')}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version and exit.")
    ] = False,
) -> None:
    """Define the options of `stb` itself."""


app = lazy_app(
    COMMANDS,
    name="stb",
    help="Spot The Bot: evaluate chatbots, from conversations to a ranking.",
    options=_options,
)


def main(*words: str) -> None:
    """Run the command in `words` and the program's arguments. An expected error is printed as one sentence."""
    try:
        app([*words, *sys.argv[1:]], prog_name="./stb" if has_tools() else "stb")
    except Error as error:
        screen.print("[red]Error:[/red] ", end="")
        problem = getattr(error, "problem", None)  # of a service: a conflict is said in its own sentence alone
        said = problem.detail if problem is not None and problem.status == _CONFLICT else str(error)
        screen.print(said, markup=False, highlight=False, soft_wrap=True)
        sys.exit(1)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("spotthebot"):
            raise
        screen.print("[red]Error:[/red] ", end="")
        said = f"This needs '{error.name}', which is not installed: install spotthebot[suite]."
        screen.print(said, markup=False, highlight=False, soft_wrap=True)
        sys.exit(1)
    except OSError as error:  # a full disk can show anywhere
        screen.print("[red]Error:[/red] ", end="")
        place = f" ({error.filename})" if error.filename else ""
        screen.print(f"{error.strerror or error}{place}.", markup=False, highlight=False, soft_wrap=True)
        sys.exit(1)
    except KeyboardInterrupt:
        screen.print("Stopped.")
        sys.exit(130)
