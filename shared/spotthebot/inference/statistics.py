"""The counts of a model that answers batches. Worker processes and Triton have the same counts."""

from dataclasses import dataclass


@dataclass(frozen=True)
class BatchStatistics:
    """Counts of requests and batches since the model was loaded.

    Means are None before the first batch. `waiting` is None if the model's host does not count waiting requests.
    """

    requests: int
    batches: int
    failures: int
    mean_batch_size: float | None
    mean_queue_ms: float | None
    mean_compute_ms: float | None
    waiting: int | None
