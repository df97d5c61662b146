"""`stb test`: lint, format, types, then every test; the contracts and the migrations are among the tests."""

import subprocess
import sys
import time
from pathlib import Path

import typer

from spotthebot.kit.errors import Unavailable
from spotthebot.suite.progress import screen

ROOT = Path(__file__).parents[4]
_SIDE_BY_SIDE = ("-n", "logical", "--maxprocesses", "4", "--dist", "loadfile", "--no-loadscope-reorder")


class NotAClone(Unavailable):
    """This command needs the sources: run it in a clone of the repository, not from an installed package."""


def test(context: typer.Context) -> None:
    """Run the whole test suite; arguments that follow go to pytest, which then runs alone."""
    if not (ROOT / "tests").is_dir():
        raise NotAClone
    pytest = [sys.executable, "-m", "pytest", *context.args]
    if context.args:
        raise typer.Exit(subprocess.call(pytest, cwd=ROOT))  # noqa: S603 - our own command
    steps = {
        "lint": [sys.executable, "-m", "ruff", "check", "."],
        "format": [sys.executable, "-m", "ruff", "format", "--check", "."],
        "types": [sys.executable, "-m", "mypy", "services", "shared", "benchmarks"],
        "tests": [*pytest, *_SIDE_BY_SIDE],
    }
    failed = []
    for name, command in steps.items():
        screen.rule(name)
        started = time.monotonic()
        if subprocess.call(command, cwd=ROOT):  # noqa: S603 - our own command
            failed.append(name)
        screen.print(f"{name}: {'failed' if name in failed else 'ok'} ({time.monotonic() - started:.0f} s)")
    if failed:
        screen.print(f"Failed: {', '.join(failed)}")
        raise typer.Exit(1)
