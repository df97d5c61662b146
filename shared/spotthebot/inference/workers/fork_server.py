"""The service's end of the program that forks the processes of models (`process`), and of each such process."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any, Self

_UNUSED_SECONDS = 60.0
_LINE_BYTES = 64 * 1024 * 1024


class ForkServer:
    """A running program, which is in a session of its own; so is each process that it forks."""

    def __init__(self, process: subprocess.Popen[bytes], control: socket.socket) -> None:
        self._process = process
        self._control = control
        self._users = 0
        self._stopping: asyncio.TimerHandle | None = None

    @classmethod
    def start(cls) -> Self:
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-m", "spotthebot.inference.workers.process", "--fd", str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                env=_environment(),
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        return cls(process, ours)

    @property
    def is_running(self) -> bool:
        return self._control.fileno() >= 0 and self._process.poll() is None

    def fork(self, kind: str) -> socket.socket:
        """Have a process forked for a model of a kind and return our end of its socket; `leave` when it has ended.

        Raises OSError if the program has ended.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._control, [kind.encode()], [theirs.fileno()])
            except OSError:
                ours.close()
                raise
        self._users += 1
        if self._stopping is not None:
            self._stopping.cancel()
        return ours

    def leave(self) -> None:
        """End the program in a minute if nobody uses it by then; until that, another model starts without imports."""
        self._users -= 1
        if self._users == 0:
            self._stopping = asyncio.get_running_loop().call_later(_UNUSED_SECONDS, self.stop)

    def stop(self) -> None:
        """End the program; processes that it has forked live on."""
        self._control.close()
        threading.Thread(target=self._process.wait, daemon=True).start()  # it ends in a moment


_running: list[ForkServer] = []


def _server() -> ForkServer:
    """Return the program of this process, for models of all kinds; it is started where none runs."""
    if _running and not _running[0].is_running:
        _running.pop().stop()
    if not _running:
        _running.append(ForkServer.start())
    return _running[0]


class ForkedProcess:
    """A process that loads a model and answers batches: each line on its socket is a JSON document."""

    def __init__(self, server: ForkServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._server = server
        self._reader = reader
        self._writer = writer
        self._pid: int | None = None

    @classmethod
    async def start(cls, model: Mapping[str, str | None]) -> Self:
        """Fork a process that loads a model: the arguments of `models.load`. Raises OSError."""
        server = _server()
        connection = server.fork(str(model["kind"]))
        process = cls(server, *await asyncio.open_connection(sock=connection, limit=_LINE_BYTES))
        process.write(model)
        return process

    @property
    def is_running(self) -> bool:
        return not self._reader.at_eof()

    async def read_start(self) -> bytes:
        """Return the line that says whether the model was loaded; nothing if the process ended before."""
        if first := await self._reader.readline():
            self._pid = json.loads(first)["pid"]
        return await self._reader.readline()

    def write(self, document: Mapping[str, Any]) -> None:
        self._writer.write(json.dumps(document).encode() + b"\n")

    async def ask(self, document: Mapping[str, Any]) -> bytes:
        """Send a document and return the line that answers it; nothing if the process ended."""
        self.write(document)
        await self._writer.drain()
        return await self._reader.readline()

    def kill(self) -> None:
        """End the process at once; one that is not forked yet ends before it loads anything."""
        if self._pid is None:
            self._writer.transport.abort()
        elif self.is_running:  # else its number may be another's by now
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._pid, signal.SIGKILL)

    async def end(self) -> None:
        """Kill the process, and wait until it has ended: whatever it still computes, nobody waits for."""
        self.kill()
        try:
            with contextlib.suppress(OSError):
                while await self._reader.read(65536):
                    pass
        finally:
            self._writer.close()
            self._server.leave()


def _environment() -> dict[str, str]:
    """Give the program the environment without our own settings: models need no database and no key.

    Torch's threads wait for each other by spinning, which starves all others where cores are few; a short spin is kind.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SPOTTHEBOT_")}
    return {"GOMP_SPINCOUNT": "1000"} | inherited
