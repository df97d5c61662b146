"""One model in a process of its own. The process starts on demand, gets batches, and is started again if it dies."""

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from spotthebot.inference.errors import ModelNotLoadable, WorkerUnavailable
from spotthebot.inference.statistics import BatchStatistics
from spotthebot.inference.workers.batch_queue import BatchQueue, Result, WaitingRequest
from spotthebot.inference.workers.forked_process import ForkedProcess
from spotthebot.kit.errors import Error
from spotthebot.kit.telemetry.logs import get_logger
from spotthebot.kit.text.characters import without_paths

_DIED = "The model's worker died; it is started again."
_UNLOADED = "The model was unloaded."
_LOADING_TOO_SLOW = "The model '{name}' was not loaded within {seconds:g} seconds, and its process was ended."
_HANGS = "The model '{name}' gave no answer within {seconds:g} seconds, and its process was ended."
_log = get_logger(__name__)


@dataclass(frozen=True)
class WorkerTimes:
    """The time limits of a process, in seconds: without a request, for loading its model, and for one batch."""

    idle_seconds: float = 900.0
    loading_seconds: float = 1800.0
    batch_seconds: float = 900.0


@dataclass(frozen=True)
class WorkerModel:
    """The model that a worker loads, and its batching. `kind` is an import path, as `models.protocol.load` takes it.

    Errors call the model by its `name`, since `model` may be a path on this machine.
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
    """One model's process and its queue. The process ends after some time without a request.

    If the process dies, a new one is forked from a program that has imported everything, which saves seconds. A process
    that exceeds its time limit for loading or for a batch is killed.
    """

    def __init__(self, model: WorkerModel, times: WorkerTimes) -> None:
        self._model = model
        self._times = times
        self._queue = BatchQueue(max_batch_size=model.max_batch_size, max_queue_delay_ms=model.max_queue_delay_ms)
        self._starting: asyncio.Task[None] | None = None
        self._loading: ForkedProcess | None = None
        self._process: ForkedProcess | None = None
        self._loop: asyncio.Task[None] | None = None
        self._is_stopped = False

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.is_running

    async def start(self) -> None:
        """Start the process unless it runs, and wait until the model is loaded.

        Raises ModelNotLoadable, and WorkerUnavailable if loading took too long or the worker was stopped.

        Several callers at the same time share one start and its outcome. A caller that is cancelled does not cancel the
        start.
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
        """Return the result of one request; raises ModelNotLoadable, RequestRefused and WorkerUnavailable."""
        await self.start()
        self._keep_batches_running()
        return await self._queue.put(request)

    def statistics(self) -> BatchStatistics:
        return self._queue.statistics()

    async def stop(self) -> None:
        """End the process for good. All requests without a result fail, and all later requests too."""
        self._is_stopped = True
        self._queue.close(_UNLOADED)
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
        if self._loading is not None:
            self._loading.kill()
        await self._end()
        if self._starting is not None:  # it fails, since its process was killed
            await asyncio.wait({self._starting})

    def _keep_batches_running(self) -> None:
        """Start the task that runs batches, unless it runs already. It ends only when the worker stops."""
        if not self._is_stopped and (self._loop is None or self._loop.done()):
            self._loop = asyncio.create_task(self._run_batches())

    def _forget_start(self, start: asyncio.Task[None]) -> None:
        self._starting = None
        if not start.cancelled():
            start.exception()  # retrieved, even if all callers were cancelled

    async def _start(self) -> None:
        await self._end()
        process = self._loading = await self._fork()
        try:
            async with asyncio.timeout(self._times.loading_seconds):
                description = await self._read_description(process)
        except BaseException as error:
            await process.end()
            if isinstance(error, TimeoutError):
                _log.warning("model.loading_too_slow", model=self._model.model)
                reason = _LOADING_TOO_SLOW.format(name=_name(self._model), seconds=self._times.loading_seconds)
                raise WorkerUnavailable(reason=reason) from error
            raise
        finally:
            self._loading = None
        _log.info("model.loaded", model=self._model.model, **description)
        self._process = process

    async def _fork(self) -> ForkedProcess:
        try:
            return await ForkedProcess.start(asdict(self._model))
        except OSError as error:
            raise WorkerUnavailable(reason=_DIED) from error

    async def _read_description(self, process: ForkedProcess) -> Mapping[str, Any]:
        line = b"" if self._is_stopped else await process.read_start()
        if self._is_stopped:
            raise WorkerUnavailable(reason=_UNLOADED)
        return _description(self._model, line)

    async def _run_batches(self) -> None:
        while True:
            batch = await self._queue.next_batch(self._times.idle_seconds if self.is_running else None)
            if not batch:
                await self._end()
                continue
            try:
                await self._run_batch(batch)
            except TimeoutError:
                _log.warning("model.worker_hangs", model=self._model.model, seconds=self._times.batch_seconds)
                reason = _HANGS.format(name=_name(self._model), seconds=self._times.batch_seconds)
                self._queue.fail(batch, reason)
                await self._end()
            except Error as error:  # the model can't be loaded again
                self._queue.fail(batch, error.detail)
            except Exception as error:  # noqa: BLE001 - the next batch runs, whatever a foreign process sends
                _log.warning("model.worker_lost", model=self._model.model, error=str(error))
                self._queue.fail(batch, _DIED)
                await self._end()
            except BaseException:
                self._queue.fail(batch, _UNLOADED)
                raise

    async def _run_batch(self, batch: list[WaitingRequest]) -> None:
        if not self.is_running:
            await self.start()
        if self._process is None:
            message = "the worker is gone"
            raise ConnectionError(message)
        began = time.perf_counter()
        async with asyncio.timeout(self._times.batch_seconds):
            line = await self._process.ask({"requests": [each.request for each in batch]})
        if not line:
            message = "the worker closed its socket"
            raise ConnectionError(message)
        self._queue.settle(batch, json.loads(line)["results"], began=began, ended=time.perf_counter())

    async def _end(self) -> None:
        process, self._process = self._process, None  # now, since another may start while this one ends
        if process is not None:
            await process.end()


def _name(model: WorkerModel) -> str:
    return model.name or Path(model.model).name


def _description(model: WorkerModel, first_line: bytes) -> Mapping[str, Any]:
    answer: dict[str, Any] = json.loads(first_line) if first_line else {"failed": "its process ended while loading"}
    if "failed" in answer:
        _log.warning("model.not_loaded", model=model.model, reason=str(answer["failed"]))
        name = _name(model)
        reason = without_paths(str(answer["failed"]).replace(model.model, name)).rstrip(".")
        raise ModelNotLoadable(model=f"'{name}'", reason=reason)
    description: Mapping[str, Any] = answer["ready"]
    return description
