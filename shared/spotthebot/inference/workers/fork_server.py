"""The service's end of a worker's program, which forks the processes of one model (`process`)."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Sequence
from typing import Self

_STOP_SECONDS = 5.0


class ForkServer:
    """A running program; its processes are in its process group, which ends with it."""

    def __init__(self, process: asyncio.subprocess.Process, control: socket.socket) -> None:
        self._process = process
        self._control = control

    @classmethod
    async def start(cls, arguments: Sequence[str]) -> Self:
        """Start the program with arguments that name the model."""
        ours, theirs = socket.socketpair()
        with theirs:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", "spotthebot.inference.workers.process", "--fd", str(theirs.fileno()), *arguments),
                pass_fds=(theirs.fileno(),),
                env=_environment(),
                stdin=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        return cls(process, ours)

    @property
    def is_running(self) -> bool:
        return self._process.returncode is None

    def fork(self) -> socket.socket:
        """Have a process forked and return our end of its socket; raises OSError if the program has ended."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._control, [b"+"], [theirs.fileno()])
            except OSError:
                ours.close()
                raise
        return ours

    async def stop(self, *, at_once: bool = False) -> None:
        """End the program and its processes, which may take a moment to finish their work unless `at_once`."""
        self._control.close()
        if at_once:
            self._kill()
        try:
            await asyncio.wait_for(self._process.wait(), _STOP_SECONDS)
        except TimeoutError:
            self._kill()
            await self._process.wait()

    def _kill(self) -> None:
        if self.is_running:  # else its group's number may be another's by now
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)


def _environment() -> dict[str, str]:
    """Give a worker the environment without our own settings: it needs no database and no key.

    Torch's threads wait for each other by spinning, which starves all others where cores are few; a short spin is kind.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SPOTTHEBOT_")}
    return {"GOMP_SPINCOUNT": "1000"} | inherited
