"""`python -m spotthebot.cli` and the installed script `stb` run the command line, as `./stb` of a clone does."""

import sys
from importlib.util import find_spec


def start() -> None:
    """Run the command line; without the packages that it needs, say which extra brings them."""
    if find_spec("typer") is None:
        sys.exit("Error: the command line is not installed with spotthebot alone: install spotthebot[suite].")
    from spotthebot.cli.application import main  # noqa: PLC0415 - it imports typer

    main()


if __name__ == "__main__":
    start()
