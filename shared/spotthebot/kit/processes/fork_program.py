"""The program that forks Python modules: what it has imported before is there in each fork, and its memory is shared.

`forks` sends requests over the control socket, which this program inherits: four bytes with the length of a JSON object
and open files with them, then the object. The files are a socket for the fork's process id and its exit code, one whose
other end is closed when we have ended (the fork's end is closed when the fork has), standard output and standard error,
and those that the fork inherits. The program ends when the control socket closes. It computes nothing and touches no
GPU: neither threads nor CUDA survive a fork.
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
    """Fork until the control socket closes; return in each fork its request, with its files."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for who asks us, and ends us then
    warnings.filterwarnings("ignore", message=".*fork", category=DeprecationWarning)  # of threads that BLAS keeps
    gc.disable()  # a fifth of the time goes into looking for garbage among what is imported
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
        with suppress(Exception):  # the fork imports it itself, and says it
            for needed in (name, *getattr(import_module(name), "NEEDS", ())):
                import_module(needed)


def _report_ended(reports: dict[int, int]) -> None:
    for pid in list(reports):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            _report(reports[pid], os.waitstatus_to_exitcode(status))
            _close(reports.pop(pid))


def _report(file: int, number: int) -> None:
    with suppress(OSError):  # nobody is left who asks
        os.write(file, number.to_bytes(REPORT_BYTES, signed=True))


def _close(*files: int) -> None:
    for file in files:
        os.close(file)


def _become(request: Mapping[str, Any], files: Sequence[int]) -> None:
    """Run the module as a program of its own session, which is sent SIGTERM when we have ended."""
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
    with suppress(ImportError):  # a service alone does without
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
