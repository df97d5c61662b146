"""The program that forks Python modules. All forks share the imported modules and their memory.

The module `forks` sends requests over the control socket, which this program inherits. A request is four bytes with the
length of a JSON object, followed by the object. Open files come with the request. The first file is a socket on which
the program reports the fork's process id, and later its exit code. The second file is a socket between the fork and its
parent: each side sees it close when the other has ended. The other files are standard output, standard error, and the
files that the fork inherits.

The program ends when the control socket closes. It computes nothing and touches no GPU, since neither threads nor CUDA
survive a fork.
"""

import gc
import json
import os
import runpy
import select
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

LENGTH_BYTES = 4
REPORT_BYTES = 8
_MAX_FILES = 8


def main() -> tuple[Mapping[str, Any], Sequence[int]] | None:
    """Fork until the control socket closes, and return None. In each fork, return its request and its open files."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then ends this program
    warnings.filterwarnings("ignore", message=".*fork", category=DeprecationWarning)  # about threads that BLAS keeps
    gc.disable()  # looking for garbage among imported objects takes a fifth of the time
    woken, waking = os.pipe()
    os.set_blocking(waking, False)
    signal.set_wakeup_fd(waking)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    reports: dict[int, int] = {}
    with socket.socket(fileno=int(sys.argv[1])) as control:
        while True:
            ready, _, _ = select.select([control.fileno(), woken], [], [])
            if woken in ready:
                os.read(woken, 4096)
                _report_ended(reports)
            if control.fileno() in ready:
                length, files, _, _ = socket.recv_fds(control, LENGTH_BYTES, _MAX_FILES)
                if not files:
                    return None
                request = json.loads(control.recv(int.from_bytes(length), socket.MSG_WAITALL))
                _import(request["needs"])
                gc.freeze()  # a collection in a fork would write to each object, and so copy its memory
                pid = os.fork()
                if pid == 0:
                    signal.set_wakeup_fd(-1)
                    _close(woken, waking, *reports.values())
                    return request, files
                reports[pid] = files[0]
                _report(files[0], pid)
                _close(*files[1:])


def _import(names: Sequence[str]) -> None:
    for name in names:
        with suppress(Exception):  # the fork imports it again, and reports the error
            for needed in (name, *getattr(import_module(name), "NEEDS", ())):
                import_module(needed)


def _report_ended(reports: dict[int, int]) -> None:
    for pid in list(reports):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            _report(reports[pid], os.waitstatus_to_exitcode(status))
            _close(reports.pop(pid))


def _report(file: int, number: int) -> None:
    with suppress(OSError):  # the parent is gone
        os.write(file, number.to_bytes(REPORT_BYTES, signed=True))


def _close(*files: int) -> None:
    for file in files:
        os.close(file)


def _become(request: Mapping[str, Any], files: Sequence[int]) -> None:
    """Run the module as a program in its own session. It receives SIGTERM when its parent has ended."""
    report, life, output, errors, *inherited = files
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    gc.enable()
    threading.Thread(target=_end_after, args=(life,), name="end with the parent", daemon=True).start()
    os.dup2(output, 1)
    os.dup2(errors, 2)
    _close(report, output, errors)
    sys.stdout.reconfigure(write_through=True)  # type: ignore[union-attr] # it is a file
    command = [*request["argv"], *(argument for file in inherited for argument in ("--fd", str(file)))]
    with suppress(ImportError):  # optional for a single service
        import_module("setproctitle").setproctitle(" ".join(command))  # finds its memory by the first environment
    if request["env"] is not None:
        os.environ.clear()
        os.environ.update(request["env"])
    _, _, module, *sys.argv[1:] = command
    sys.path[:] = request["path"]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _end_after(life: int) -> None:
    with suppress(OSError):
        os.read(life, 1)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    forked = main()
    if forked is not None:
        _become(*forked)
