"""Starts the suite of this machine as a process of its own, which outlives the command."""

import re
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
    while True:
        state, has_ended = folder.read_state(), child.poll() is not None  # before the log: it has their lines
        said = log_file.read_bytes()[start:].decode(errors="replace")
        *lines, _ = said.split("\n")
        for line in lines[shown:]:
            if " runs" in line or line.startswith("Preparing"):
                say(line)
        if state is not None and state.ready:
            return state
        if has_ended:
            raise JobFailed(what="Starting the suite", reason=" ".join(re.split("(?m)^Error:", said)[-1].split()))
        shown = len(lines)
        time.sleep(0.1)
