"""The worker processes of models that run at the moment."""

import contextlib
from pathlib import Path

import psutil

_WORKER = "spotthebot.inference.workers.process"
_FORKING = "spotthebot.kit.processes.fork_program"


def workers_of(folder: Path) -> list[psutil.Process]:
    """Return the running processes of models below a folder, in the order of their starts."""
    running = [process for process, line in _processes(_WORKER) if str(folder) in line]
    return sorted(running, key=lambda process: process.create_time())


def forking_programs() -> list[psutil.Process]:
    """Return the programs that fork them: one, where no service but those of this test process runs."""
    return [process for process, _ in _processes(_FORKING)]


def _processes(program: str) -> list[tuple[psutil.Process, str]]:
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it has just ended
            line = " ".join(process.cmdline())
            if program in line:
                found.append((process, line))
    return found
