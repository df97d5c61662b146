"""Prometheus metrics of an application; each application has its own registry.

Requests are counted when they are answered. Other metrics, such as the depth of a queue, are read from a database by
sources. They read when the metrics are requested, but at most every five seconds.

Workers serve no metrics. A worker that hangs could not report this, but the growing depth of its queue shows it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from importlib.metadata import version
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from spotthebot.kit.telemetry.logs import get_logger
from spotthebot.kit.waits.memo import Memo

MetricSource = Callable[[], Awaitable[Sequence[Metric]]]
"""Reads families of metrics, the same ones each time. If it raises, its families are left out."""
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_OTHER_METHOD: Final = "other"
_READ_SECONDS: Final = 5.0
_LONGEST_READ_SECONDS: Final = 5.0

disable_created_metrics()  # type: ignore[no-untyped-call] # a series more for each, which nobody reads
_log = get_logger(__name__)


class RequestMetrics:
    """The metrics of requests by method, route and status, of their durations, of the process, and of the sources."""

    def __init__(self, service: str) -> None:
        self.registry = CollectorRegistry()
        self.sources = MetricSources(service, self.registry)
        self._requests = Counter(
            "http_requests",
            "Requests answered.",
            ["service", "method", "route", "status"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "http_request_duration_seconds",
            "Time to answer, in seconds.",
            ["service", "method", "route"],
            registry=self.registry,
        )
        build = Gauge("spotthebot_build", "1, with the release.", ["service", "version"], registry=self.registry)
        build.labels(service, version("spotthebot")).set(1)
        ProcessCollector(registry=self.registry)
        self._service = service
        self._known: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        known = self._known.get((method, route, status))
        if known is None:
            shown = method if method in _METHODS else _OTHER_METHOD  # a caller chooses it
            known = self._known[method, route, status] = (
                self._requests.labels(self._service, shown, route, str(status)),
                self._seconds.labels(self._service, shown, route),
            )
        known[0].inc()
        known[1].observe(seconds)

    def render(self) -> bytes:
        return generate_latest(self.registry)


class MetricSources(Collector):
    """Metrics that are read on request. Requests at the same time, or soon after each other, share one reading."""

    def __init__(self, service: str, registry: CollectorRegistry) -> None:
        self._sources: list[MetricSource] = []
        self._read: list[Metric] = []
        self._reading = Memo[None, list[Metric]](seconds=_READ_SECONDS)
        self._failures = Counter(
            "spotthebot_metric_source_failures",
            "Readings of metrics that failed; the metrics of that source were left out.",
            ["service"],
            registry=registry,
        ).labels(service)
        registry.register(self)

    def use(self, *sources: MetricSource) -> None:
        """Add sources, which are read from now on."""
        self._sources[:] = sources

    async def read(self) -> None:
        """Read all sources, unless they were read a moment ago."""
        self._read = await self._reading.get(None, self._read_all)

    def describe(self) -> Iterable[Metric]:
        """Return nothing, since the metrics are known only after they are read."""
        return ()

    def collect(self) -> Iterable[Metric]:
        return self._read

    async def _read_all(self) -> list[Metric]:
        found = await asyncio.gather(*map(self._read_one, self._sources))
        return [metric for metrics in found for metric in metrics]

    async def _read_one(self, source: MetricSource) -> Sequence[Metric]:
        try:
            async with asyncio.timeout(_LONGEST_READ_SECONDS):
                return await source()
        except Exception as error:  # noqa: BLE001 - the other metrics have to stay available, as they show the trouble
            self._failures.inc()
            _log.warning("metrics.source_failed", error=type(error).__name__)
            return ()
