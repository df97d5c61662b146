"""Models in worker processes of this service, with dynamic batching."""

from spotthebot.inference.workers.pool import ModelWorkers
from spotthebot.inference.workers.worker import WorkerModel, WorkerTimes

__all__ = ["ModelWorkers", "WorkerModel", "WorkerTimes"]
