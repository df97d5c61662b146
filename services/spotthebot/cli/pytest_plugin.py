"""A plugin of pytest: the fixture `stb_gate` runs a gate's file, and fails the test with the gate's report.

pytest imports this module at every start where Spot The Bot is installed, so it imports nothing else of the suite.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def stb_gate(tmp_path: Path) -> Callable[..., None]:
    """Return a function that runs `./stb gate` on a file, with further options of the command."""

    def run(file: str | Path, *options: str) -> None:
        report = tmp_path / "gate.md"
        command = [sys.executable, "-m", "spotthebot.cli", "gate", str(file), "--markdown", str(report), *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - a fixed program
        if done.returncode:
            pytest.fail(report.read_text() if done.returncode == 1 and report.exists() else done.stderr, pytrace=False)

    return run
