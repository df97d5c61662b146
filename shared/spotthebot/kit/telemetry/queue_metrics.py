"""The metrics of queues, and of other counts that are read on demand."""

from collections.abc import Iterable

from prometheus_client.core import GaugeMetricFamily, Metric

from spotthebot.kit.telemetry.queues import COUNTED, JobQueues, QueueDepth


def queue_families(service: str, jobs: JobQueues, others: Iterable[QueueDepth] = ()) -> list[Metric]:
    """Return the metrics of a service's queues: its job queues, and other queues."""
    waiting = GaugeMetricFamily(
        "spotthebot_queue_waiting",
        f"Entries of a queue that could be worked on now; at most {COUNTED} are counted.",
        labels=["service", "queue"],
    )
    oldest = GaugeMetricFamily(
        "spotthebot_queue_oldest_seconds",
        "Time for which the first of these entries has waited; 0 where none waits.",
        labels=["service", "queue"],
    )
    running = GaugeMetricFamily(
        "spotthebot_queue_running", "Entries of a queue that are worked on.", labels=["service", "queue"]
    )
    for depth in (*jobs.depths, *others):
        waiting.add_metric([service, depth.queue], depth.waiting)
        oldest.add_metric([service, depth.queue], depth.oldest_seconds)
        if depth.running is not None:
            running.add_metric([service, depth.queue], depth.running)
    failed = GaugeMetricFamily(
        "spotthebot_jobs_failed", "Jobs that ended with an error and are kept.", labels=["service", "queue"]
    )
    for queue, number in jobs.failed.items():
        failed.add_metric([service, queue], number)
    workers = GaugeMetricFamily(
        "spotthebot_workers",
        "Workers that were heard of in the last 30 seconds, one for each queue.",
        labels=["service"],
    )
    workers.add_metric([service], jobs.workers)
    return [waiting, oldest, running, failed, workers]


def state_family(name: str, about: str, by: str, counts: dict[str, int]) -> Metric:
    """Return a metric with one number for each state, such as campaigns by state."""
    family = GaugeMetricFamily(name, about, labels=[by])
    for state, number in sorted(counts.items()):
        family.add_metric([state], number)
    return family
