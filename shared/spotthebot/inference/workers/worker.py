"""One model in a process of its own: started when it is needed, given batches, started again when it dies."""

import asyncio
import json
import os
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spotthebot.inference.errors import ModelNotLoadable
from spotthebot.inference.statistics import BatchStatistics
from spotthebot.inference.workers.batch_queue import BatchQueue, Result, WaitingRequest
from spotthebot.kit.logs import get_logger

_LINE_BYTES = 64 * 1024 * 1024
_STOP_SECONDS = 5.0
_log = get_logger(__name__)


@dataclass(frozen=True)
class WorkerModel:
    """What a worker loads, and how it batches; `kind` is an import path as `models.load` takes it."""

    kind: str
    model: str
    revision: str | None = None
    device: str = "auto"
    dtype: str = "auto"
    max_batch_size: int = 32
    max_queue_delay_ms: float = 2.0


class Worker:
    """One model's process and its queue. The process ends after some time without a request."""

    def __init__(self, model: WorkerModel, *, idle_seconds: float) -> None:
        self._model = model
        self._idle_seconds = idle_seconds
        self._queue = BatchQueue(max_batch_size=model.max_batch_size, max_queue_delay_ms=model.max_queue_delay_ms)
        self._starting: asyncio.Task[None] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._loop: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.returncode is None and self._streams is not None

    async def start(self) -> None:
        """Start the process unless it runs, and wait until the model is loaded; raises ModelNotLoadable.

        Callers at the same time share one start and its outcome; a caller that is cancelled does not end it.
        """
        if self.is_running:
            return
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
            self._starting.add_done_callback(self._forget_start)
        await asyncio.shield(self._starting)

    async def infer(self, request: Mapping[str, Any]) -> Result:
        """Return one result; raises ModelNotLoadable, RequestRefused, WorkerUnavailable."""
        await self.start()
        return await self._queue.put(request)

    def statistics(self) -> BatchStatistics:
        return self._queue.statistics()

    async def stop(self) -> None:
        """End the process; all requests without a result fail."""
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
        self._queue.fail_all("The model was unloaded.")
        await self._close_process()
        if self._starting is not None:
            await asyncio.gather(self._starting, return_exceptions=True)

    async def _start(self) -> None:
        await self._close_process()
        await self._start_process()
        if self._loop is None or self._loop.done():
            self._loop = asyncio.create_task(self._run_batches())

    def _forget_start(self, start: asyncio.Task[None]) -> None:
        self._starting = None
        if not start.cancelled():
            start.exception()  # it is seen, even where all callers were cancelled

    async def _start_process(self) -> None:
        ours, theirs = socket.socketpair()
        model = self._model
        arguments = ["--fd", str(theirs.fileno()), "--kind", model.kind, "--model", model.model]
        arguments += ["--device", model.device, "--dtype", model.dtype]
        arguments += ["--revision", model.revision] if model.revision else []
        with theirs:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", "spotthebot.inference.workers.process", *arguments),
                pass_fds=(theirs.fileno(),),
                env=_environment(),
                stdin=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        reader, writer = await asyncio.open_connection(sock=ours, limit=_LINE_BYTES)
        try:
            description = _description(model, await reader.readline())
        except BaseException:
            writer.close()
            await self._close_process()
            raise
        _log.info("model.loaded", model=model.model, **description)
        self._streams = reader, writer

    async def _run_batches(self) -> None:
        while True:
            batch = await self._queue.next_batch(self._idle_seconds if self.is_running else None)
            if not batch:
                await self._close_process()
                continue
            try:
                await self._run_batch(batch)
            except (OSError, ValueError, ModelNotLoadable) as error:  # ValueError: what came back is no answer
                _log.warning("model.worker_lost", model=self._model.model, error=str(error))
                self._queue.fail(batch, "The model's worker died; it is started again.")
                await self._close_process()

    async def _run_batch(self, batch: list[WaitingRequest]) -> None:
        if not self.is_running:
            await self.start()
        if self._streams is None:
            message = "the worker is gone"
            raise ConnectionError(message)
        reader, writer = self._streams
        began = time.perf_counter()
        writer.write(json.dumps({"requests": [json.dumps(each.request) for each in batch]}).encode() + b"\n")
        await writer.drain()
        line = await reader.readline()
        if not line:
            message = "the worker closed its socket"
            raise ConnectionError(message)
        self._queue.settle(batch, json.loads(line)["results"], began=began, ended=time.perf_counter())

    async def _close_process(self) -> None:
        streams, self._streams = self._streams, None
        process, self._process = self._process, None  # at once: another may be started while this one ends
        if streams is not None:
            streams[1].close()
        if process is not None and process.returncode is None:
            try:
                await asyncio.wait_for(process.wait(), _STOP_SECONDS)
            except TimeoutError:
                process.kill()
                await process.wait()


def _description(model: WorkerModel, first_line: bytes) -> Mapping[str, Any]:
    answer: dict[str, Any] = json.loads(first_line) if first_line else {"failed": "its process ended while loading"}
    if "failed" in answer:
        raise ModelNotLoadable(model=f"'{model.model}'", reason=str(answer["failed"]).rstrip("."))
    description: Mapping[str, Any] = answer["ready"]
    return description


def _environment() -> dict[str, str]:
    """Give a worker the environment without our own settings: it needs no database and no key.

    Torch's threads wait for each other by spinning, which starves all others where cores are few; a short spin is kind.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SPOTTHEBOT_")}
    return {"GOMP_SPINCOUNT": "1000"} | inherited
