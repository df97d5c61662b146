"""All worker processes of a service, one process for each model."""

import asyncio
import importlib.util
from collections.abc import Mapping
from typing import Any

from spotthebot.inference.errors import HostingMissing
from spotthebot.inference.statistics import BatchStatistics
from spotthebot.inference.workers.batch_queue import Result
from spotthebot.inference.workers.worker import Worker, WorkerModel, WorkerTimes


class ModelWorkers:
    """The worker processes.

    A model's process starts at the first request or load, and ends after a long time without one.

    When a worker has answered a batch, it gets all waiting requests at once, up to the model's largest batch. So under
    load batches are full without any delay, and a lone request waits no longer than the queue delay.
    """

    def __init__(self, times: WorkerTimes | None = None) -> None:
        self._times = times or WorkerTimes()
        self._workers: dict[WorkerModel, Worker] = {}

    async def load(self, model: WorkerModel) -> None:
        """Start a model's worker and wait until it can answer.

        Raises HostingMissing, ModelNotLoadable and WorkerUnavailable.
        """
        await self._worker(model).start()

    async def infer(self, model: WorkerModel, request: Mapping[str, Any]) -> Result:
        """Return the result of one request, computed in a batch with all other waiting requests.

        Raises HostingMissing, ModelNotLoadable, RequestRefused and WorkerUnavailable.
        """
        return await self._worker(model).infer(request)

    async def unload(self, model: WorkerModel) -> None:
        """Stop a model's worker; its waiting requests fail."""
        if worker := self._workers.pop(model, None):
            await worker.stop()

    def statistics(self, model: WorkerModel) -> BatchStatistics | None:
        """Return a model's counts; None if it is not loaded."""
        worker = self._workers.get(model)
        return worker.statistics() if worker and worker.is_running else None

    async def close(self) -> None:
        workers, self._workers = list(self._workers.values()), {}
        await asyncio.gather(*(worker.stop() for worker in workers))

    def _worker(self, model: WorkerModel) -> Worker:
        if model not in self._workers:
            if importlib.util.find_spec("torch") is None:
                reason = "Hosting models needs torch and transformers: run `./stb install models` and start again."
                raise HostingMissing(reason=reason)
            self._workers[model] = Worker(model, self._times)
        return self._workers[model]
