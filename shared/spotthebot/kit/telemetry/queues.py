"""What lies in a queue, whatever the queue lies in: how much waits, how long the first of it has, how much runs."""

from dataclasses import dataclass, field

COUNTED = 100_000
"""No more entries of a queue are counted: a metric has to be cheap when there are most."""


@dataclass(frozen=True)
class QueueDepth:
    """What lies in a queue; `running` is None where entries are not worked on one by one."""

    queue: str
    waiting: int
    oldest_seconds: float
    running: int | None = None


@dataclass(frozen=True)
class JobQueues:
    """The queues of jobs of one service, how many jobs of each failed for good, and the workers that were heard of."""

    depths: tuple[QueueDepth, ...]
    failed: dict[str, int] = field(default_factory=dict)
    workers: int = 0
