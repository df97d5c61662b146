"""Dynamic batching: requests that wait at the same time are answered together."""

import asyncio
import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from spotthebot.inference.errors import RequestRefused, WorkerUnavailable
from spotthebot.inference.statistics import BatchStatistics

Result = Mapping[str, Any]


@dataclass
class WaitingRequest:
    """A request in the queue, and the future of its result."""

    request: Mapping[str, Any]
    result: asyncio.Future[Result]
    since: float = field(default_factory=time.perf_counter)

    def settle(self, answer: Result) -> None:
        """Set the caller's result; an `error` becomes RequestRefused."""
        if self.result.done():  # it was cancelled: its time was up
            return
        if "error" in answer:
            self.result.set_exception(RequestRefused(reason=answer["error"]))
        else:
            self.result.set_result(answer)

    def fail(self, reason: str) -> None:
        """Fail the request: its caller gets WorkerUnavailable with this reason."""
        if not self.result.done():
            self.result.set_exception(WorkerUnavailable(reason=reason))


class BatchQueue:
    """The waiting requests of one model, and the counts of answered requests."""

    def __init__(self, *, max_batch_size: int, max_queue_delay_ms: float) -> None:
        self._max_batch_size = max_batch_size
        self._max_queue_delay_seconds = max_queue_delay_ms / 1000
        self._waiting: asyncio.Queue[WaitingRequest] = asyncio.Queue()
        self._batch: list[WaitingRequest] = []
        self._closed: str | None = None
        self._answered = 0
        self._batches = 0
        self._failures = 0
        self._queue_seconds = 0.0
        self._compute_seconds = 0.0

    def put(self, request: Mapping[str, Any]) -> asyncio.Future[Result]:
        """Add a request and return the future of its result. If the queue is closed, the future fails."""
        waiting = WaitingRequest(request, asyncio.get_running_loop().create_future())
        if self._closed is None:
            self._waiting.put_nowait(waiting)
        else:
            waiting.fail(self._closed)
        return waiting.result

    async def next_batch(self, timeout_seconds: float | None) -> list[WaitingRequest]:
        """Return all waiting requests, as soon as the first one has waited for the queue delay or the batch is full.

        Returns an empty list if no request arrives before the timeout.
        """
        try:
            first = await asyncio.wait_for(self._waiting.get(), timeout_seconds)
        except TimeoutError:
            return []
        batch = self._batch = [first]
        ends = first.since + self._max_queue_delay_seconds
        while len(batch) < self._max_batch_size:
            with contextlib.suppress(asyncio.QueueEmpty):
                batch.append(self._waiting.get_nowait())
                continue
            left = ends - time.perf_counter()
            if left <= 0:
                break
            with contextlib.suppress(TimeoutError):
                batch.append(await asyncio.wait_for(self._waiting.get(), left))
        return batch

    def settle(self, batch: list[WaitingRequest], answers: list[Result], *, began: float, ended: float) -> None:
        """Set the answers of a batch and count them. `began` and `ended` are values of `time.perf_counter`."""
        self._batches += 1
        self._compute_seconds += ended - began
        for each, answer in zip(batch, answers, strict=True):
            self._answered += 1
            self._queue_seconds += began - each.since
            self._failures += "error" in answer
            each.settle(answer)

    def fail(self, batch: list[WaitingRequest], reason: str) -> None:
        """Fail a batch that has no answers."""
        self._failures += len(batch)
        for each in batch:
            each.fail(reason)

    def close(self, reason: str) -> None:
        """Fail the requests of the current batch, all waiting requests and all later requests. They are not counted."""
        self._closed = reason
        for each in self._batch:
            each.fail(reason)
        while not self._waiting.empty():
            self._waiting.get_nowait().fail(reason)

    def statistics(self) -> BatchStatistics:
        batches, answered = self._batches or None, self._answered or None
        return BatchStatistics(
            requests=self._answered,
            batches=self._batches,
            failures=self._failures,
            mean_batch_size=self._answered / batches if batches else None,
            mean_queue_ms=self._queue_seconds / answered * 1000 if answered else None,
            mean_compute_ms=self._compute_seconds / batches * 1000 if batches else None,
            waiting=self._waiting.qsize(),
        )
