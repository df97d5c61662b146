"""What is counted of a model that answers batches, the same for worker processes and Triton."""

from dataclasses import dataclass


@dataclass(frozen=True)
class BatchStatistics:
    """Counts since the model was loaded. Means are None before the first batch, `waiting` where nobody counts it."""

    requests: int
    batches: int
    failures: int
    mean_batch_size: float | None
    mean_queue_ms: float | None
    mean_compute_ms: float | None
    waiting: int | None
