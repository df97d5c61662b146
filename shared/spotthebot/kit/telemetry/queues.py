"""The load of a queue: how many entries wait, how long the first has waited, and how many are being worked on."""

from dataclasses import dataclass, field

COUNTED = 100_000
"""At most this many entries of a queue are counted, so that the metric stays cheap when a queue is long."""


@dataclass(frozen=True)
class QueueDepth:
    """The load of a queue. `running` is None if nobody counts the entries that are being worked on."""

    queue: str
    waiting: int
    oldest_seconds: float
    running: int | None = None


@dataclass(frozen=True)
class JobQueues:
    """The job queues of one service, the number of failed jobs of each, and the number of live workers."""

    depths: tuple[QueueDepth, ...]
    failed: dict[str, int] = field(default_factory=dict)
    workers: int = 0
