"""One model in a process of its own: started when it is needed, given batches, started again when it dies."""

import asyncio
import json
import os
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spotthebot.inference.errors import ModelNotLoadable, WorkerUnavailable
from spotthebot.inference.statistics import BatchStatistics
from spotthebot.inference.workers.batch_queue import BatchQueue, Result, WaitingRequest
from spotthebot.kit.errors import Error
from spotthebot.kit.logs import get_logger
from spotthebot.kit.text import without_paths

_LINE_BYTES = 64 * 1024 * 1024
_STOP_SECONDS = 5.0
_UNLOADED = "The model was unloaded."
_log = get_logger(__name__)


@dataclass(frozen=True)
class WorkerModel:
    """What a worker loads, and how it batches; `kind` is an import path as `models.load` takes it.

    Errors call the model by its `name`, since `model` may be a path of this machine.
    """

    kind: str
    model: str
    name: str = ""
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
        self._is_stopped = False

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.returncode is None and self._streams is not None

    async def start(self) -> None:
        """Start the process unless it runs, and wait until the model is loaded.

        Raises ModelNotLoadable, and WorkerUnavailable once the worker was stopped.

        Callers at the same time share one start and its outcome; a caller that is cancelled does not end it.
        """
        if self.is_running:
            return
        if self._is_stopped:
            raise WorkerUnavailable(reason=_UNLOADED)
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
            self._starting.add_done_callback(self._forget_start)
        await asyncio.shield(self._starting)

    async def infer(self, request: Mapping[str, Any]) -> Result:
        """Return one result; raises ModelNotLoadable, RequestRefused, WorkerUnavailable."""
        await self.start()
        self._keep_batches_running()
        return await self._queue.put(request)

    def statistics(self) -> BatchStatistics:
        return self._queue.statistics()

    async def stop(self) -> None:
        """End the process for good; all requests without a result fail, and so do those that still come."""
        self._is_stopped = True
        self._queue.close(_UNLOADED)
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
        await self._close_process()
        if self._starting is not None:  # it fails, since its process was killed
            await asyncio.wait({self._starting})

    async def _start(self) -> None:
        await self._close_process()
        await self._start_process()

    def _keep_batches_running(self) -> None:
        """Start the task that runs batches, unless it runs; it ends only when the worker stops."""
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
            description = await self._read_description(reader)
        except BaseException:
            writer.close()
            await self._close_process()
            raise
        _log.info("model.loaded", model=model.model, **description)
        self._streams = reader, writer

    async def _read_description(self, reader: asyncio.StreamReader) -> Mapping[str, Any]:
        first_line = b"" if self._is_stopped else await reader.readline()
        if self._is_stopped:
            raise WorkerUnavailable(reason=_UNLOADED)
        return _description(self._model, first_line)

    async def _run_batches(self) -> None:
        while True:
            batch = await self._queue.next_batch(self._idle_seconds if self.is_running else None)
            if not batch:
                await self._close_process()
                continue
            try:
                await self._run_batch(batch)
            except Error as error:  # the model can't be loaded again
                self._queue.fail(batch, error.detail)
            except Exception as error:  # noqa: BLE001 - whatever a foreign process sends, the next batch is run
                _log.warning("model.worker_lost", model=self._model.model, error=str(error))
                self._queue.fail(batch, "The model's worker died; it is started again.")
                await self._close_process()
            except BaseException:
                self._queue.fail(batch, _UNLOADED)
                raise

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
            if streams is None:
                process.kill()  # it is still loading, and would not see that the socket was closed
            try:
                await asyncio.wait_for(process.wait(), _STOP_SECONDS)
            except TimeoutError:
                process.kill()
                await process.wait()


def _description(model: WorkerModel, first_line: bytes) -> Mapping[str, Any]:
    answer: dict[str, Any] = json.loads(first_line) if first_line else {"failed": "its process ended while loading"}
    if "failed" in answer:
        _log.warning("model.not_loaded", model=model.model, reason=str(answer["failed"]))
        name = model.name or Path(model.model).name
        reason = without_paths(str(answer["failed"]).replace(model.model, name)).rstrip(".")
        raise ModelNotLoadable(model=f"'{name}'", reason=reason)
    description: Mapping[str, Any] = answer["ready"]
    return description


def _environment() -> dict[str, str]:
    """Give a worker the environment without our own settings: it needs no database and no key.

    Torch's threads wait for each other by spinning, which starves all others where cores are few; a short spin is kind.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SPOTTHEBOT_")}
    return {"GOMP_SPINCOUNT": "1000"} | inherited
