"""Starts Python modules as forks of one process that has imported what most services need.

Those imports are most of a service's start. Until they change it, forks also share their memory.
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

from spotthebot.suite.supervision.lifeline import die_with_parent_process
from spotthebot.suite.supervision.spec import ProcessSpec

_FORKS = multiprocessing.get_context("forkserver")
_PRELOADED = "spotthebot.suite.supervision.preloaded"


class Fork:
    """A forked process; what `asyncio.subprocess.Process` offers for any program."""

    def __init__(self, process: multiprocessing.process.BaseProcess) -> None:
        loop = asyncio.get_running_loop()
        self.pid = cast("int", process.pid)  # it has started
        self._process = process
        self._exit_code: asyncio.Future[int] = loop.create_future()
        loop.add_reader(process.sentinel, self._see_it_end)

    @classmethod
    async def start(cls, spec: ProcessSpec, output: int) -> Self:
        """Run the module of a spec, with the file `output` as its output; raises OSError where that is impossible.

        The process that forks runs (`ensure_fork_server`).
        """
        with Connection(os.dup(output), readable=False) as written:
            environment = dict(os.environ if spec.env is None else spec.env)
            process = _FORKS.Process(target=_run, args=(spec.argv, environment, written, spec.listener))
            starting = asyncio.ensure_future(asyncio.to_thread(process.start))  # the first one waits for the imports
            try:
                await asyncio.shield(starting)
            except asyncio.CancelledError:
                await starting
                process.kill()
                raise
            except EOFError as error:
                raise ChildProcessError(errno.ECHILD, "the process that forks services has ended") from error
        return cls(process)

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; None while the process runs."""
        return self._exit_code.result() if self._exit_code.done() else None

    async def wait(self) -> int:
        """Wait until the process has ended; return its exit code."""
        return await asyncio.shield(self._exit_code)

    def _see_it_end(self) -> None:
        asyncio.get_running_loop().remove_reader(self._process.sentinel)
        self._exit_code.set_result(cast("int", self._process.exitcode))  # it has ended
        self._process.close()


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
    """End politely with whichever ends first: the supervisor, or the process that forked us and tells it our end."""
    die_with_parent_process(signal.SIGTERM)
    supervisor = cast("multiprocessing.process.BaseProcess", multiprocessing.parent_process())

    def follow() -> None:
        supervisor.join()
        with contextlib.suppress(ProcessLookupError):
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=follow, name="supervisor's end", daemon=True).start()
