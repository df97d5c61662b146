"""Forks Python modules from one program that has imported them (`fork_program`). This saves time and memory.

A fork ends with this process, not with the fork program. If the fork program dies or hangs, the next fork starts
another one.
"""

import asyncio
import errno
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Self, cast

from spotthebot.kit.processes.fork_program import LENGTH_BYTES, REPORT_BYTES
from spotthebot.kit.processes.process import Process, signal_group
from spotthebot.kit.telemetry.logs import get_logger

_PROGRAM = "spotthebot.kit.processes.fork_program"
_REPORT_SECONDS = 5.0
"""Time limit for the fork program to take a request, and to report the end of a fork."""
_UNUSED_SECONDS = 60.0
"""The fork program ends after this time without forks. Until then another fork starts without imports."""
_UNKNOWN_EXIT_CODE = 255
_log = get_logger(__name__)


class ForkServer:
    """The parent's end of the fork program.

    The program gets our environment without our settings, since settings contain secrets.
    """

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair()
        self._control.settimeout(_REPORT_SECONDS)
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("SPOTTHEBOT_")}
        with theirs:
            argv = (sys.executable, "-m", _PROGRAM, str(theirs.fileno()))
            self._process = Process(argv, env=inherited, inherited=[theirs.fileno()])
        self._forks = 0
        self._stopping: asyncio.TimerHandle | None = None

    @property
    def is_running(self) -> bool:
        return self._control.fileno() >= 0 and self._process.returncode is None

    def send(self, request: Mapping[str, Any], files: Sequence[int]) -> None:
        """Send the request for a fork; call `leave` when the fork has ended. Raises OSError."""
        body = json.dumps(request).encode()
        try:
            socket.send_fds(self._control, [len(body).to_bytes(LENGTH_BYTES)], files)
            self._control.sendall(body)
        except TimeoutError:
            self.kill()
            raise
        self._forks += 1
        if self._stopping is not None:
            self._stopping.cancel()

    def leave(self) -> None:
        self._forks -= 1
        if self._forks == 0:
            self._stopping = asyncio.get_running_loop().call_later(_UNUSED_SECONDS, self.stop)

    def stop(self) -> None:
        """End the fork program. Its forks continue."""
        self._control.close()
        threading.Thread(target=self._process.end, args=((signal.SIGTERM, _REPORT_SECONDS),), daemon=True).start()

    def kill(self) -> None:
        """Kill the fork program if it hangs."""
        _log.warning("fork_server.killed", pid=self._process.pid, reason="it hangs")
        self._process.send(signal.SIGKILL)


_running: list[ForkServer] = []


def _server() -> ForkServer:
    """Return the fork program of this process. It serves forks of all kinds, and is started if it is not running."""
    if _running and not _running[0].is_running:
        _running.pop().stop()
    if not _running:
        _running.append(ForkServer())
    return _running[0]


class Fork:
    """A module that runs, or will soon run, in a process with its own session. It has the methods of `Process`.

    `argv` is a Python command line, `python -m MODULE ...`; each open file in `inherited` is appended to it as `--fd
    NUMBER`. `output` receives standard output and standard error (None: ours). `env` is the whole environment (None:
    ours without our settings). The fork program first imports the modules in `needs`, and the modules that they list in
    their constant NEEDS. The program is killed if the imports take longer than `start_seconds`. Raises OSError.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        needs: Sequence[str],
        env: Mapping[str, str] | None = None,
        output: int | None = None,
        inherited: Sequence[int] = (),
        start_seconds: float = 120.0,
    ) -> None:
        self._server = _server()
        (report, theirs), (life, its) = socket.socketpair(), socket.socketpair()
        asked = {"argv": argv, "path": sys.path, "needs": needs, "env": None if env is None else {**env}}
        outputs = (1, 2) if output is None else (output, output)
        files = [theirs.fileno(), its.fileno(), *outputs, *inherited]
        with theirs, its, ExitStack() as on_failure:
            on_failure.enter_context(report)
            on_failure.enter_context(life)
            self._server.send(asked, files)
            on_failure.pop_all()
        self._pid: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()
        self._is_unwanted = False
        self._running = asyncio.create_task(self._see_it_end(report, life, start_seconds))

    @classmethod
    async def start(cls, argv: Sequence[str], **options: Any) -> Self:  # noqa: ANN401 - as above
        """Start a fork and return it; raises OSError."""
        fork = cls(argv, **options)
        try:
            await asyncio.shield(fork._pid)
        except asyncio.CancelledError:
            fork.send(signal.SIGKILL)
            raise
        if fork._pid.result() is None:
            raise ChildProcessError(errno.ECHILD, "the program that forks has ended")
        return fork

    @property
    def has_started(self) -> bool:
        return self._pid.done()

    @property
    def pid(self) -> int:
        """Return the process id, after the process has started."""
        return cast("int", self._pid.result())

    @property
    def returncode(self) -> int | None:
        """Return the exit code, negative for a signal; None while the process runs."""
        return self._running.result() if self._running.done() else None

    async def wait(self) -> int:
        """Wait until the process has ended; return its exit code."""
        return await asyncio.shield(self._running)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the process and its children.

        If the process is not forked yet, it is killed after its fork.
        """
        if not self._pid.done():
            self._is_unwanted = True
        elif not self._running.done():
            signal_group(self.pid, number)

    async def _see_it_end(self, report: socket.socket, life: socket.socket, start_seconds: float) -> int:
        with report, life, ExitStack() as at_the_end:
            at_the_end.callback(self._server.leave)
            report.settimeout(0)
            life.settimeout(0)
            pid = await self._reported(report, start_seconds)
            self._pid.set_result(pid)
            if pid is None:
                return _UNKNOWN_EXIT_CODE
            if self._is_unwanted:
                signal_group(pid, signal.SIGKILL)
            await asyncio.get_running_loop().sock_recv(life, 1)  # the process alone holds the other end
            exit_code = await self._reported(report, _REPORT_SECONDS)
            return _UNKNOWN_EXIT_CODE if exit_code is None else exit_code

    async def _reported(self, report: socket.socket, seconds: float) -> int | None:
        """Return the next number from the fork program; None if the program has ended, or if it hung and was killed."""
        number = b""
        try:
            async with asyncio.timeout(seconds):
                number = await asyncio.get_running_loop().sock_recv(report, REPORT_BYTES)
        except TimeoutError:
            self._server.kill()
        return int.from_bytes(number, signed=True) if number else None
