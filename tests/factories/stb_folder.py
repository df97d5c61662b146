"""A data folder of its own with `stb` on it, and a suite of real processes that runs there."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil

from spotthebot.local.runtime.data_folder import DataFolder
from tests.factories.command_line import Printed, run_stb

STB = [sys.executable, "-m", "spotthebot.cli"]


class Folder:
    """A data folder of its own, and `stb` on it."""

    def __init__(self, parent: Path) -> None:
        self.parent = parent
        self.data = parent / "data"
        self.environment = os.environ | {"SPOTTHEBOT_POSTGRES_HOME": str(parent / "homes"), "COLUMNS": "200"}

    def stb(self, *arguments: str | Path) -> Printed:
        """Run a command on the folder, in this process."""
        return run_stb(*arguments, "--data-dir", self.data)

    def process(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """Run a command on the folder, as a process of its own."""
        command = [*STB, *map(str, arguments), "--data-dir", str(self.data)]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60, check=False)

    def status(self) -> dict[str, Any]:
        return json.loads(self.stb("status", "--json").stdout)

    @property
    def is_ready(self) -> bool:
        """Whether all processes have started, the last worker too."""
        state = DataFolder(self.data).read_state() if self.data.exists() else None
        return state is not None and state.ready

    def pid_of(self, worker: str) -> int:
        """Return the process of a worker that runs."""
        return next(each["pid"] for each in self.status()["workers"] if each["name"] == worker)


@contextlib.contextmanager
def data_folder() -> Iterator[Folder]:
    parent = Path(tempfile.mkdtemp(prefix="stb-e2e-"))
    parent.chmod(0o755)  # root's PostgreSQL runs as another account, which has to pass
    (parent / "homes").mkdir(mode=0o755)
    yield Folder(parent)
    shutil.rmtree(parent, ignore_errors=True)


@contextlib.contextmanager
def running_up(folder: Folder, port_base: int, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run `stb up` while the block lasts; it is ready when the block begins."""
    command = [*STB, "up", "--data-dir", str(folder.data), "--port-base", str(port_base), *options]
    log = (folder.parent / "up.log").open("wb")
    process = subprocess.Popen(command, env=folder.environment, stdout=log, stderr=log)
    try:
        wait_until(lambda: process.poll() is not None or folder.is_ready, 90)
        assert process.poll() is None, (folder.parent / "up.log").read_text()
        yield process
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait(60)
    finally:
        process.kill()  # one that hangs would outlive the test run
        process.wait()
        log.close()


@contextlib.contextmanager
def suspended(pid: int) -> Iterator[None]:
    """Stop a process while the block lasts."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def lives(process: psutil.Process) -> bool:
    """Say whether a process still runs; one that ended and was not yet collected does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_until(holds: Callable[[], bool], seconds: float) -> None:
    """Wait for something that other processes bring about."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.2)
