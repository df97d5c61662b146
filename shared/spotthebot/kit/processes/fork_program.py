"""The program that forks Python modules: what it has imported before is there in each fork, and its memory is shared.

`forks` sends requests over the control socket, which this program inherits: four bytes with the length of a JSON object
and open files with them, then the object. Two files are sockets: by one this program reports the fork's process id and
its exit code; the other one the fork alone holds, so that each side sees the other end. The program ends when the
control socket closes. It computes nothing and touches no GPU: neither threads nor CUDA survive a fork.
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
from dataclasses import dataclass
from importlib import import_module

LENGTH_BYTES = 4
REPORT_BYTES = 8
_MAX_FILES = 8


@dataclass(frozen=True)
class _Request:
    """A module on `path` to run, as `python -m MODULE ...`; its inherited `files` are appended as `--fd NUMBER`."""

    argv: Sequence[str]
    path: Sequence[str]
    needs: Sequence[str]
    env: Mapping[str, str] | None
    report: socket.socket
    life: socket.socket
    output: int | None
    files: Sequence[int]

    def close(self) -> None:
        self.report.close()
        self.life.close()
        for file in (self.output, *self.files):
            if file is not None:
                os.close(file)


def main() -> _Request | None:
    """Fork until the control socket closes; return in each fork the request that it has to fulfil."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for who asks us, and ends us then
    warnings.filterwarnings("ignore", message=".*fork", category=DeprecationWarning)  # of threads that BLAS keeps
    gc.disable()  # a fifth of the time goes into looking for garbage among what is imported
    woken, waking = socket.socketpair()
    waking.settimeout(0)
    signal.set_wakeup_fd(waking.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    reports: dict[int, socket.socket] = {}
    with socket.socket(fileno=int(sys.argv[1])) as control, woken, waking:
        while True:
            ready, _, _ = select.select([control, woken], [], [])
            if woken in ready:
                woken.recv(4096)
                _report_ended(reports)
            if control in ready:
                request = _receive(control)
                if request is None or _is_forked(request, reports):
                    signal.set_wakeup_fd(-1)
                    return request


def _is_forked(request: _Request, reports: dict[int, socket.socket]) -> bool:
    """Fork; return True in the fork."""
    for name in request.needs:
        with suppress(Exception):  # the fork imports it itself, and says it
            for needed in (name, *getattr(import_module(name), "NEEDS", ())):
                import_module(needed)
    gc.freeze()  # a collection in a fork would write to each object, and so copy its memory
    pid = os.fork()
    if pid == 0:
        for each in (request.report, *reports.values()):
            each.close()
        return True
    report = request.report.dup()
    request.close()
    reports[pid] = report
    _send(report, pid)
    return False


def _receive(control: socket.socket) -> _Request | None:
    length, files, _, _ = socket.recv_fds(control, LENGTH_BYTES, _MAX_FILES)
    if not files:
        return None
    document = json.loads(control.recv(int.from_bytes(length), socket.MSG_WAITALL))
    report, life, *more = files
    output = more.pop(0) if document.pop("has_output") else None
    return _Request(
        **document, report=socket.socket(fileno=report), life=socket.socket(fileno=life), output=output, files=more
    )


def _report_ended(reports: dict[int, socket.socket]) -> None:
    for pid in list(reports):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            with reports.pop(pid) as report:
                _send(report, os.waitstatus_to_exitcode(status))


def _send(report: socket.socket, number: int) -> None:
    with suppress(OSError):  # nobody is left who asks
        report.sendall(number.to_bytes(REPORT_BYTES, signed=True))


def _become(request: _Request) -> None:
    """Run the module as a program of its own session, which is sent SIGTERM when the other end of `life` closes."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    gc.enable()
    threading.Thread(target=_end_after, args=(request.life,), name="end with the parent", daemon=True).start()
    if request.output is not None:
        os.dup2(request.output, 1)
        os.dup2(request.output, 2)
        os.close(request.output)
        sys.stdout.reconfigure(write_through=True)  # type: ignore[union-attr] # it is a file
    command = [*request.argv, *(argument for file in request.files for argument in ("--fd", str(file)))]
    with suppress(ImportError):  # a service alone does without
        from setproctitle import setproctitle  # noqa: PLC0415 - as above

        setproctitle(" ".join(command))  # finds its memory by the first environment
    if request.env is not None:
        os.environ.clear()
        os.environ.update(request.env)
    _, _, module, *sys.argv[1:] = command
    sys.path[:] = request.path
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _end_after(life: socket.socket) -> None:
    with suppress(OSError):
        life.recv(1)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    asked = main()
    if asked is not None:
        _become(asked)
