"""Programs in sessions of their own: how they end, and what ends with them."""

import os
import signal
import sys
import time
from pathlib import Path

import psutil
import pytest

from spotthebot.kit.processes.process import Process

PARENT = """
import signal, subprocess, sys, time
{before}
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True)
time.sleep(60)
"""
DEAF = "signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGINT, lambda *_: sys.exit(7))"


def started(log: Path, before: str = "") -> tuple[Process, psutil.Process]:
    """Return a program and its child."""
    with log.open("wb") as output:
        process = Process((sys.executable, "-c", PARENT.format(before=before)), output=output.fileno())
    while not log.read_text().endswith("\n"):
        time.sleep(0.01)
    return process, psutil.Process(int(log.read_text()))


class TestProcess:
    def test_has_a_session_of_its_own(self, tmp_path: Path):
        process, _ = started(tmp_path / "log")
        assert os.getsid(process.pid) == process.pid
        process.end()

    async def test_ends_with_what_it_started(self, tmp_path: Path):
        process, child = started(tmp_path / "log")
        process.send(signal.SIGTERM)
        assert await process.wait() == -signal.SIGTERM
        assert await process.wait() == -signal.SIGTERM
        assert psutil.wait_procs([child], timeout=10)[1] == []

    @pytest.mark.parametrize(
        ("steps", "exit_code"),
        [
            ([(signal.SIGTERM, 0.2), (signal.SIGINT, 30)], 7),
            ([(signal.SIGTERM, 0.2)], -signal.SIGKILL),
            ([], -signal.SIGKILL),
        ],
    )
    def test_is_ended_by_one_signal_after_the_other(
        self, tmp_path: Path, steps: list[tuple[signal.Signals, float]], exit_code: int
    ):
        process, _ = started(tmp_path / "log", DEAF)
        process.end(*steps)
        assert process.returncode == exit_code
