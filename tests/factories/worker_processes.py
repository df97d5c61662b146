"""The worker processes of models that run at the moment."""

import contextlib
from pathlib import Path

import psutil

_PROGRAM = "spotthebot.inference.workers.process"


def workers_of(folder: Path) -> list[psutil.Process]:
    """Return the running processes of models below a folder, in the order of their starts."""
    running = [process for process, line in _processes() if str(folder) in line]
    return sorted(running, key=lambda process: process.create_time())


def forking_programs() -> list[psutil.Process]:
    """Return the programs that fork them: one, where no service but those of this test process runs."""
    return [process for process, line in _processes() if " --fd " in line]


def _processes() -> list[tuple[psutil.Process, str]]:
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it has just ended
            line = " ".join(process.cmdline())
            if _PROGRAM in line:
                found.append((process, line))
    return found
