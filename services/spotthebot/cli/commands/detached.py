"""Starts the suite of this machine as a process of its own, which outlives the command."""

import subprocess
import sys
import time

from spotthebot.local.errors import JobFailed
from spotthebot.local.progress import say
from spotthebot.local.runtime.data_folder import DataFolder, State


def start_detached(folder: DataFolder, port_base: int | None, *options: str) -> State:
    """Start `stb up` with these options, and return when its suite runs; raises JobFailed if it ends earlier."""
    say("Starting the services ...")
    folder.create()
    command = [sys.executable, "-m", "spotthebot.cli", "up", "--data-dir", str(folder.path), *options]
    command += [] if port_base is None else [f"--port-base={port_base}"]
    log_file = folder.logs / "suite.log"
    with log_file.open("ab") as log:
        start = log.tell()
        child = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)  # noqa: S603 - our own command
    shown = 0
    while (state := folder.read_state()) is None or not state.ready:
        has_ended = child.poll() is not None
        said = log_file.read_bytes()[start:].decode(errors="replace")
        if has_ended:
            raise JobFailed(what="Starting the suite", reason=" ".join(said.rpartition("Error:")[2].split()))
        *lines, _ = said.split("\n")
        for line in lines[shown:]:
            if " runs" in line or line.startswith("Preparing"):
                say(line)
        shown = len(lines)
        time.sleep(0.1)
    return state
