"""Starts Python modules as forks of one process that has imported what most services need.

Those imports are most of a service's start. Until they change it, forks also share their memory. They outlive the
process that forked them: where that one dies or hangs, another takes its place when a service has to be started.
"""

import asyncio
import contextlib
import errno
import io
import multiprocessing
import os
import runpy
import signal
import socket
import sys
import threading
from collections.abc import Mapping, Sequence
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from typing import Self, cast

from setproctitle import setproctitle

from spotthebot.kit.logs import get_logger
from spotthebot.kit.processes.spec import ProcessSpec

_log = get_logger(__name__)
_FORKS = multiprocessing.get_context("forkserver")
_PRELOADED = "spotthebot.local.runtime.preloaded"
_START_SECONDS = 120.0
_REPORT_SECONDS = 5.0
"""Time for the process that forks to begin a fork, its own imports included, and to report the end of one."""
_UNKNOWN_EXIT_CODE = 255
"""As `multiprocessing` has it, where nobody is left who knows it."""


class Fork:
    """A forked process; what `asyncio.subprocess.Process` offers for any program."""

    def __init__(self, process: multiprocessing.process.BaseProcess) -> None:
        self._loop = asyncio.get_running_loop()
        self.pid = cast("int", process.pid)  # it has started
        self._process = process
        self._exit_code: asyncio.Future[int] = self._loop.create_future()
        self._watch()

    @classmethod
    async def start(cls, spec: ProcessSpec, output: int) -> Self:
        """Run the module of a spec, with the file `output` as its output; raises OSError where that is impossible.

        The process that forks runs (`ensure_fork_server`).
        """
        with Connection(os.dup(output), readable=False) as written:
            environment = dict(os.environ if spec.env is None else spec.env)
            process = _FORKS.Process(target=_run, args=(spec.argv, environment, written, spec.listener))
            starting = asyncio.ensure_future(asyncio.to_thread(process.start))  # the first one waits for the imports
            too_late = asyncio.get_running_loop().call_later(_START_SECONDS, _kill_fork_server)
            try:
                await asyncio.shield(starting)
            except asyncio.CancelledError:
                await starting
                process.kill()
                raise
            except EOFError as error:
                raise ChildProcessError(errno.ECHILD, "the process that forks services has ended") from error
            finally:
                too_late.cancel()
        return cls(process)

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; None while the process runs."""
        return self._exit_code.result() if self._exit_code.done() else None

    async def wait(self) -> int:
        """Wait until the process has ended; return its exit code."""
        return await asyncio.shield(self._exit_code)

    def _watch(self) -> None:
        """See the process itself end: what its sentinel says ends with the process that forked it."""
        if sys.platform == "linux":
            with contextlib.suppress(OSError):  # it has ended already
                self._file = os.pidfd_open(self.pid)
                self._loop.add_reader(self._file, self._see_it_end)
                return
        self._loop.add_reader(self._process.sentinel, self._settle)

    def _see_it_end(self) -> None:
        self._loop.remove_reader(self._file)
        os.close(self._file)
        self._loop.add_reader(self._process.sentinel, self._settle)
        self._loop.call_later(_REPORT_SECONDS, self._settle)

    def _settle(self) -> None:
        """Take its exit code from the process that forked it; one that does not report it hangs, and is killed."""
        if self._exit_code.done():
            return
        self._loop.remove_reader(self._process.sentinel)
        exit_code = self._process.exitcode
        if exit_code is None:
            _kill_fork_server()
            exit_code = _UNKNOWN_EXIT_CODE
        else:
            self._process.close()
        self._exit_code.set_result(exit_code)


def ensure_fork_server() -> bool:
    """Start the process that forks, unless it runs, without our settings: each service has its own secrets alone.

    Return False where it can't be, as with a temporary folder whose path is too long for a socket.
    """
    _FORKS.set_forkserver_preload([_PRELOADED])
    settings = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("SPOTTHEBOT_")}
    try:
        forkserver.ensure_running()
    except OSError:
        return False
    finally:
        os.environ.update(settings)
    return True


def _kill_fork_server() -> None:
    """Kill the process that forks: the next start of a service starts another, and its forks go on."""
    pid: int | None = vars(forkserver._forkserver)["_forkserver_pid"]  # noqa: SLF001 - nobody else tells
    if pid is not None:
        _log.warning("fork_server.killed", pid=pid, reason="it hangs")
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _run(
    argv: Sequence[str], environment: Mapping[str, str], written: Connection, listener: socket.socket | None
) -> None:
    """Become what `argv` would start: in a session, with an environment and output of its own."""
    os.setsid()
    _end_with_supervisor()
    with open(os.devnull, "rb") as nothing, written:  # noqa: PTH123 - a device, for its number
        for source, target in ((nothing, 0), (written, 1), (written, 2)):
            os.dup2(source.fileno(), target)
    cast("io.TextIOWrapper", sys.stdout).reconfigure(write_through=True)
    _, _, module, *arguments = argv
    if listener is not None:
        arguments += ["--fd", str(listener.detach())]
    setproctitle(" ".join([*argv[:3], *arguments]))  # finds its memory by the first environment
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[1:] = arguments
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _end_with_supervisor() -> None:
    """End politely with the supervisor, not with the process that forked us."""
    supervisor = cast("multiprocessing.process.BaseProcess", multiprocessing.parent_process())

    def follow() -> None:
        supervisor.join()
        with contextlib.suppress(ProcessLookupError):
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=follow, name="supervisor's end", daemon=True).start()
