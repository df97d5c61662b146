"""Models in worker processes of this service, one process a model, with dynamic batching.

Whenever a worker is free it is given all that waits, up to the model's largest batch; under load batches are full
without any wait, and a lone question waits no longer than the queue delay. A worker that dies is started anew.
"""

import asyncio
import contextlib
import importlib.util
import json
import os
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from spotthebot.bots.domain.errors import HostingMissing, ModelNotLoadable
from spotthebot.bots.domain.replies import Fault
from spotthebot.contracts.bots import BatchStatistics, ReplyFailure
from spotthebot.kit.logs import get_logger

_LINE_BYTES = 64 * 1024 * 1024
_STOP_SECONDS = 5.0
_log = get_logger(__name__)


@dataclass(frozen=True)
class WorkerModel:
    """What a worker loads, and how it batches."""

    model: str
    revision: str | None = None
    device: str = "auto"
    dtype: str = "auto"
    max_batch_size: int = 32
    max_queue_delay_ms: float = 2.0


@dataclass
class _Counts:
    replies: int = 0
    batches: int = 0
    failures: int = 0
    queue_seconds: float = 0.0
    compute_seconds: float = 0.0


@dataclass
class _Waiting:
    request: Mapping[str, Any]
    answer: asyncio.Future[str]
    since: float = field(default_factory=time.perf_counter)


class ModelWorkers:
    """All worker processes of this service; a model's starts when it is first asked, or loaded."""

    def __init__(self, *, idle_seconds: float = 900.0) -> None:
        self._idle_seconds = idle_seconds
        self._workers: dict[WorkerModel, _Worker] = {}

    async def load(self, model: WorkerModel) -> None:
        """Start a model's worker and wait until it can answer; raises ModelNotLoadable, HostingMissing."""
        await self._worker(model).started()

    async def ask(self, model: WorkerModel, request: Mapping[str, Any]) -> str:
        """Ask for one reply, in a batch with whatever else waits; raises Fault."""
        return await self._worker(model).ask(request)

    async def unload(self, model: WorkerModel) -> None:
        """Stop a model's worker; what waits for it fails."""
        if worker := self._workers.pop(model, None):
            await worker.stop()

    def statistics(self, model: WorkerModel) -> BatchStatistics | None:
        """Return a model's counts; None where it is not loaded."""
        worker = self._workers.get(model)
        return worker.statistics() if worker and worker.is_running else None

    async def close(self) -> None:
        workers, self._workers = list(self._workers.values()), {}
        await asyncio.gather(*(worker.stop() for worker in workers))

    def _worker(self, model: WorkerModel) -> "_Worker":
        if model not in self._workers:
            if importlib.util.find_spec("torch") is None:
                reason = "Hosting models needs torch and transformers: run `./stb install models` and start again."
                raise HostingMissing(reason=reason)
            self._workers[model] = _Worker(model, self._idle_seconds)
        return self._workers[model]


class _Worker:
    """One model's process and its queue."""

    def __init__(self, model: WorkerModel, idle_seconds: float) -> None:
        self._model = model
        self._idle_seconds = idle_seconds
        self._queue: asyncio.Queue[_Waiting] = asyncio.Queue()
        self._counts = _Counts()
        self._starting = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._serving: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.returncode is None and self._streams is not None

    async def started(self) -> None:
        async with self._starting:
            if self.is_running:
                return
            await self._close_process()
            await self._start()
            if self._serving is None or self._serving.done():
                self._serving = asyncio.create_task(self._serve())

    async def ask(self, request: Mapping[str, Any]) -> str:
        try:
            await self.started()
        except ModelNotLoadable as error:
            raise Fault(ReplyFailure.UNREACHABLE, error.detail) from error
        waiting = _Waiting(request, asyncio.get_running_loop().create_future())
        self._queue.put_nowait(waiting)
        return await waiting.answer

    def statistics(self) -> BatchStatistics:
        counts = self._counts
        batches = counts.batches or None
        return BatchStatistics(
            replies=counts.replies,
            batches=counts.batches,
            failures=counts.failures,
            mean_batch_size=counts.replies / batches if batches else None,
            mean_queue_ms=counts.queue_seconds / counts.replies * 1000 if counts.replies else None,
            mean_compute_ms=counts.compute_seconds / batches * 1000 if batches else None,
            waiting=self._queue.qsize(),
        )

    async def stop(self) -> None:
        if self._serving is not None:
            self._serving.cancel()
            await asyncio.gather(self._serving, return_exceptions=True)
        while not self._queue.empty():
            _fail(self._queue.get_nowait(), "The model was unloaded.")
        await self._close_process()

    async def _start(self) -> None:
        ours, theirs = socket.socketpair()
        model = self._model
        arguments = ["--fd", str(theirs.fileno()), "--model", model.model, "--device", model.device]
        arguments += ["--dtype", model.dtype, *(["--revision", model.revision] if model.revision else [])]
        with theirs:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", "spotthebot.bots.hosting.worker", *arguments),
                pass_fds=(theirs.fileno(),),
                env=_environment(),
                stdin=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        reader, writer = await asyncio.open_connection(sock=ours, limit=_LINE_BYTES)
        try:
            description = _loaded(model, await reader.readline())
        except BaseException:
            writer.close()
            await self._close_process()
            raise
        _log.info("model.loaded", model=model.model, **description)
        self._streams = reader, writer

    async def _serve(self) -> None:
        while True:
            batch = await self._next_batch()
            if not batch:
                await self._close_process()
                continue
            try:
                await self._answer(batch)
            except (OSError, ValueError, ModelNotLoadable) as error:  # ValueError: what came back is no answer
                _log.warning("model.worker_lost", model=self._model.model, error=str(error))
                self._counts.failures += len(batch)
                for each in batch:
                    _fail(each, "The model's worker died; it is started again.")
                await self._close_process()

    async def _next_batch(self) -> list[_Waiting]:
        """Return what waits, after at most the queue delay; nothing where nobody asked for a long time."""
        try:
            first = await asyncio.wait_for(self._queue.get(), self._idle_seconds if self.is_running else None)
        except TimeoutError:
            return []
        batch = [first]
        ends = first.since + self._model.max_queue_delay_ms / 1000
        while len(batch) < self._model.max_batch_size:
            with contextlib.suppress(asyncio.QueueEmpty):
                batch.append(self._queue.get_nowait())
                continue
            left = ends - time.perf_counter()
            if left <= 0:
                break
            with contextlib.suppress(TimeoutError):
                batch.append(await asyncio.wait_for(self._queue.get(), left))
        return batch

    async def _answer(self, batch: list[_Waiting]) -> None:
        if not self.is_running:
            await self.started()
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
        ended = time.perf_counter()
        self._counts.batches += 1
        self._counts.compute_seconds += ended - began
        for each, answer in zip(batch, json.loads(line)["answers"], strict=True):
            self._counts.replies += 1
            self._counts.queue_seconds += began - each.since
            if "error" in answer:
                self._counts.failures += 1
            settle(each.answer, answer)

    async def _close_process(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None
        if self._process is not None and self._process.returncode is None:
            try:
                await asyncio.wait_for(self._process.wait(), _STOP_SECONDS)
            except TimeoutError:
                self._process.kill()
                await self._process.wait()
        self._process = None


def _loaded(model: WorkerModel, first: bytes) -> Mapping[str, Any]:
    said: dict[str, Any] = json.loads(first) if first else {"failed": "its process ended while loading"}
    if "failed" in said:
        raise ModelNotLoadable(model=f"'{model.model}'", reason=str(said["failed"]).rstrip("."))
    ready: Mapping[str, Any] = said["ready"]
    return ready


def settle(future: asyncio.Future[str], answer: Mapping[str, Any]) -> None:
    """Give a waiter its answer: `text`, or an `error` as a fault of its own request."""
    if future.done():  # it was cancelled: its time was up
        return
    if "error" in answer:
        future.set_exception(Fault(ReplyFailure.INVALID, f"The model refused: {answer['error']}"))
    else:
        future.set_result(str(answer["text"]))


def _fail(waiting: _Waiting, detail: str) -> None:
    if not waiting.answer.done():
        waiting.answer.set_exception(Fault(ReplyFailure.UNREACHABLE, detail, transient=True))


def _environment() -> dict[str, str]:
    """Give a worker the environment without our own settings: it needs no database and no key.

    Torch's threads wait for each other by spinning, which starves all others where cores are few; a short spin is kind.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SPOTTHEBOT_")}
    return {"GOMP_SPINCOUNT": "1000"} | inherited
