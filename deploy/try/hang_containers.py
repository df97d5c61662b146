"""Stops a server's processes and a worker's (SIGSTOP), and waits until the engine has started them again, healthy.

Run by `try.sh` against the containers that `engine.sh compose` started. An engine leaves alone what hangs: it is the
third silent health check that ends it (`docker/health.py`). Prints a row of `deploy/try/README.md` for each container;
exits with 1 where one is not healthy again in time.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

ENGINE = str(Path(__file__).with_name("engine.sh"))
CONTAINERS = ("try_annotation_1", "try_annotation-worker_1")
LONGEST_SECONDS = 180


def inspect(name: str, field: str) -> str:
    """Return one field of what the engine knows of a container."""
    command = [ENGINE, "docker", "inspect", "--format", f"{{{{.{field}}}}}", name]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def stop(name: str) -> None:
    """Stop all processes of a container but the first, the init: to it no signal from inside would come."""
    for process in psutil.Process(int(inspect(name, "State.Pid"))).children(recursive=True):
        os.kill(process.pid, signal.SIGSTOP)


def await_field(name: str, field: str, *, is_not: str = "", is_now: str = "") -> float:
    """Return the seconds until a field has another value than `is_not`, or the value `is_now`."""
    began = time.monotonic()
    while not ((found := inspect(name, field)) == is_now or (is_not and found != is_not)):
        if time.monotonic() - began > LONGEST_SECONDS:
            sys.exit(f"{name}: {field} is {found} after {LONGEST_SECONDS} s.")
        time.sleep(0.5)
    return time.monotonic() - began


def main() -> None:
    """Stop one container after the other."""
    for name in CONTAINERS:
        before = inspect(name, "RestartCount")
        stop(name)
        again = await_field(name, "RestartCount", is_not=before)
        healthy = again + await_field(name, "State.Health.Status", is_now="healthy")
        what = name.removeprefix("try_").removesuffix("_1")
        print(
            f"| `{what}` hangs (SIGSTOP) | started again after {again:.0f} s | healthy after {healthy:.0f} s |",
            flush=True,
        )


if __name__ == "__main__":
    main()
