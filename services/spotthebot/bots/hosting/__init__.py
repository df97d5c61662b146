"""Running models: on Triton, or in worker processes of this service where there is none."""

from spotthebot.bots.hosting.triton import PROBE, TritonHost
from spotthebot.bots.hosting.workers import ModelWorkers, WorkerModel

__all__ = ["PROBE", "ModelWorkers", "TritonHost", "WorkerModel"]
