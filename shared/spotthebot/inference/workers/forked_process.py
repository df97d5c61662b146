"""The service's end of a model's process (module `process`). It is forked from a program that has imported torch."""

import asyncio
import contextlib
import json
import signal
import socket
import sys
from collections.abc import Mapping
from typing import Any, Self

from spotthebot.kit.processes.forks import Fork

_PROGRAM = "spotthebot.inference.workers.process"
_PRELOADED = "spotthebot.inference.workers.preloaded"
_START_SECONDS = 1800.0
_LINE_BYTES = 64 * 1024 * 1024


class ForkedProcess:
    """A process that loads a model and answers batches. Each line on its socket is a JSON document."""

    def __init__(self, fork: Fork, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._fork = fork
        self._reader = reader
        self._writer = writer

    @classmethod
    async def start(cls, model: Mapping[str, Any]) -> Self:
        """Fork a process that loads a model; `model` has all fields of `WorkerModel`. Raises OSError."""
        ours, theirs = socket.socketpair()
        with theirs, contextlib.ExitStack() as on_failure:
            on_failure.enter_context(ours)
            fork = Fork(
                (sys.executable, "-m", _PROGRAM, json.dumps(model)),
                needs=(_PRELOADED, model["kind"].partition(":")[0]),
                inherited=[theirs.fileno()],
                start_seconds=_START_SECONDS,
            )
            on_failure.pop_all()
        return cls(fork, *await asyncio.open_connection(sock=ours, limit=_LINE_BYTES))

    @property
    def is_running(self) -> bool:
        return not self._reader.at_eof()

    async def read_start(self) -> bytes:
        """Return the line that reports whether the model was loaded; empty if the process ended without a report."""
        return await self._reader.readline()

    async def ask(self, document: Mapping[str, Any]) -> bytes:
        """Send a document and return the line of the answer; empty if the process ended without an answer."""
        self._writer.write(json.dumps(document).encode() + b"\n")
        await self._writer.drain()
        return await self._reader.readline()

    def kill(self) -> None:
        """End the process at once. If it is not forked yet, it will end before it loads anything."""
        self._fork.send(signal.SIGKILL)
        if not self._fork.has_started:
            self._writer.transport.abort()

    async def end(self) -> None:
        """Kill the process and wait until it has ended. Its unfinished work is lost."""
        self.kill()
        try:
            if self._fork.has_started:
                await self._fork.wait()
        finally:
            self._writer.close()
