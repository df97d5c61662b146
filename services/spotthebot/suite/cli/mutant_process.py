"""A process that runs pytest on a copy of the clone, forked from one that has loaded what the tests need of others."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

NO_COMPILED_FILES = "PYTHONDONTWRITEBYTECODE"
PRELOADED = (
    "pytest",
    "hypothesis",
    "numpy",
    "scipy.stats",
    "scipy.optimize",
    "scipy.sparse",
    "scipy.special",
    "fastapi",
    "httpx",
    "psycopg",
    "procrastinate",
    "sqlalchemy.ext.asyncio",
    "structlog",
    "typer.testing",
)
"""What takes most of the time that pytest takes to start; none of it is ours, so that no mutant is among it."""


def run_pytest(clone: str, arguments: Sequence[str], output: str) -> None:
    """Run pytest in the copy and end this process with its exit code; what it prints goes to the file `output`."""
    os.setsid()
    os.chdir(clone)
    with Path(output).open("w", encoding="utf-8") as opened:
        os.dup2(opened.fileno(), 1)
        os.dup2(opened.fileno(), 2)
    for name in [name for name in sys.modules if name.split(".")[0] in {"spotthebot", "tests"}]:
        del sys.modules[name]  # they came from the clone
    # A compiled file, known by its source's size and second, would hide the next mutant of the same size.
    sys.dont_write_bytecode = True
    os.environ[NO_COMPILED_FILES] = "1"
    sources = [f"{clone}/services", f"{clone}/shared"]
    os.environ["PYTHONPATH"] = os.pathsep.join(sources)
    sys.path[:0] = [clone, *sources]
    options = ["-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]  # for the preloaded
    sys.exit(pytest.main([*options, *arguments]))
