"""The worker processes of models that run at the moment."""

import contextlib
from pathlib import Path

import psutil


def workers_of(folder: Path) -> list[psutil.Process]:
    """Return the running worker processes of models below a folder: each program, then the process that it forked."""
    running = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it has just ended
            line = " ".join(process.cmdline())
            if "spotthebot.inference.workers.process" in line and str(folder) in line:
                running.append(process)
    return sorted(running, key=lambda process: process.create_time())
