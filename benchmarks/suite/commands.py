"""What a command costs before its own work, beside Alembic's command line and a bare import of typer."""

import tempfile

from benchmarks.bots.measurement import Measurement
from benchmarks.suite.processor_time import REPEATS, processor_seconds

_GOAL_SECONDS, _REPEATS = 0.4, REPEATS
TOY = {"_REPEATS": 0}
_RANK = """\
import sys
from spotthebot import clients
from spotthebot.cli import main
sys.argv = ["stb", "rank", "x", "--resamples", "0"]
clients.AsyncAnnotation("http://127.0.0.1:1", "key")
main()
"""
"""A faulty ranking ends before its first client is made, so that is made first."""


def measure() -> list[Measurement]:
    """Measure three commands: help, a question about a folder where nothing runs, a faulty ranking."""
    alembic = processor_seconds("-m", "alembic", "--help", repeats=_REPEATS)
    bare = processor_seconds("-c", "import typer", repeats=_REPEATS)
    compared = f"`alembic --help`: {alembic:.2f} s; `import typer`: {bare:.2f} s"
    with tempfile.TemporaryDirectory() as folder:
        commands = {
            "`./stb --help`": ("-m", "spotthebot.cli", "--help"),
            "`./stb status`, nothing runs": ("-m", "spotthebot.cli", "status", "--data-dir", folder),
            "`./stb rank`, up to its first request": ("-c", _RANK),
        }
        return [_row(name, arguments, compared, alembic) for name, arguments in commands.items()]


def _row(name: str, arguments: tuple[str, ...], compared: str, alembic: float) -> Measurement:
    seconds = processor_seconds(*arguments, repeats=_REPEATS)
    ratio = f"{seconds / alembic:.2f} x Alembic"
    return Measurement(name, f"{seconds:.2f} s", compared, ratio, f"< {_GOAL_SECONDS} s", seconds < _GOAL_SECONDS)
