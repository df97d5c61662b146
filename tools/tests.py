"""`stb test`: lint, format, types, then every test; `--fast` for a change, `--mutants` to test the tests."""

import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from spotthebot.cli.application import main
from spotthebot.local.progress import screen
from tools import ROOT
from tools.changed_tests import changed_files, pick_tests
from tools.coverage import COVERAGE_OPTIONS, print_coverage, remove_report
from tools.mutants import run_mutants

_PROCESSES = min(12, 3 * (os.cpu_count() or 2))
"""More than cores: many tests wait for other processes."""
_SIDE_BY_SIDE = ("--workers", str(_PROCESSES))
_TYPED = ("services", "shared", "tools", "benchmarks", "tests")
_LINT = {
    "lint": [sys.executable, "-m", "ruff", "check", "."],
    "format": [sys.executable, "-m", "ruff", "format", "--check", "."],
}
_FAST_SECONDS = 60
_ROOM_TO_FINISH_SECONDS = 8
"""The test that runs when the time is up still ends, and pytest says goodbye."""
_NO_TESTS_RAN = 5
_NO_COMPILED_FILES = "PYTHONDONTWRITEBYTECODE"


def run_tests(
    context: typer.Context,
    fast: Annotated[
        bool,
        typer.Option(
            "--fast",
            help="In a minute: lint, types by a daemon, tests of what changed since main, tests without database.",
        ),
    ] = False,
    coverage: Annotated[
        bool,
        typer.Option("--coverage", help="Record and print the branch coverage of each service and shared package."),
    ] = False,
    mutants: Annotated[
        str | None,
        typer.Option(
            metavar="ROOM",
            help="Change this package (analytics/stats, kit) in many small ways, and print which no test notices.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Draws the mutants; without one, a new one is printed.")] = None,
    count: Annotated[int, typer.Option(min=1, help="How many mutants to draw.")] = 150,
    session: Annotated[
        Path | None,
        typer.Option(help="Keep the mutants and their results here; a run that was interrupted continues from them."),
    ] = None,
) -> None:
    """Run the whole test suite; arguments that follow go to pytest, which then runs alone."""
    if mutants is not None:
        drawn_by = secrets.randbelow(10**6) if seed is None else seed
        run_mutants(ROOT, mutants, seed=drawn_by, count=count, tests=context.args, session=session)
        return
    if fast:
        failed = _run_fast()
    elif context.args and not coverage:
        raise typer.Exit(_call([*_pytest(), *context.args]))
    else:
        tests = [*_pytest(), *(context.args or _SIDE_BY_SIDE), *(COVERAGE_OPTIONS if coverage else ())]
        if coverage:
            remove_report(ROOT)
        failed = _run_steps({"tests": tests}) if context.args else _run_whole(tests)
        if coverage:
            print_coverage(ROOT)
    if failed:
        screen.print(f"Failed: {', '.join(failed)}")
        raise typer.Exit(1)


def _pytest() -> list[str]:
    return [sys.executable, "-m", "pytest"]


def _call(command: Sequence[str]) -> int:
    """Run a command in the clone to its end; return its exit code.

    It keeps compiled files, whatever the machine says: each test worker and each process that tests start would
    otherwise compile the same sources.
    """
    environment = {name: value for name, value in os.environ.items() if name != _NO_COMPILED_FILES}
    return subprocess.call(command, cwd=ROOT, env=environment)  # noqa: S603 - our own commands


def _run_steps(steps: Mapping[str, Sequence[str]], *, allowed: Sequence[int] = (0,)) -> list[str]:
    """Run commands one after the other; return the names of those that failed."""
    failed = []
    for name, command in steps.items():
        screen.rule(name)
        started = time.monotonic()
        if _call(command) not in allowed:
            failed.append(name)
        screen.print(f"{name}: {'failed' if name in failed else 'ok'} ({time.monotonic() - started:.0f} s)")
    return failed


@contextmanager
def _checking_types(command: Sequence[str], failed: list[str]) -> Iterator[None]:
    """Run mypy, which keeps one core busy, beside the steps of a block; what it printed follows theirs."""
    with (
        tempfile.TemporaryFile() as output,
        subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT) as types,  # noqa: S603 - our own command
    ):
        yield
        screen.rule("types")
        if types.wait():
            failed.append("types")
        output.seek(0)
        sys.stderr.write(output.read().decode(errors="replace"))


def _run_whole(tests: Sequence[str]) -> list[str]:
    failed: list[str] = []
    with _checking_types([sys.executable, "-m", "mypy", *_TYPED], failed):
        failed += _run_steps({**_LINT, "tests": tests})
    return failed


def _run_fast() -> list[str]:
    """Check types beside the tests, which end when the time is up; say what was left out."""
    started = time.monotonic()
    changed = changed_files(ROOT)
    picked = pick_tests(changed, ROOT)
    failed: list[str] = []
    with _checking_types([sys.executable, "-m", "mypy.dmypy", "run", "--", *_TYPED], failed):
        failed += _run_steps(_LINT)
        seconds = _FAST_SECONDS - _ROOM_TO_FINISH_SECONDS - (time.monotonic() - started)
        options = ["-p", "tests.factories.fast_selection", f"--fast-seconds={seconds:.0f}"]
        options += [f"--fast-changed={file}" for file in picked]
        screen.print(f"{len(changed)} files changed since main; they are tested by {', '.join(picked) or 'no file'}")
        failed += _run_steps({"tests": [*_pytest(), "-q", *options]}, allowed=(0, _NO_TESTS_RAN))
    screen.print(f"In {time.monotonic() - started:.0f} s. Everything: ./stb test")
    return failed


if __name__ == "__main__":
    main("test")
