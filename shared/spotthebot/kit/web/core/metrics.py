"""Prometheus metrics of an application; each has a registry of its own.

Requests are counted as they are answered. What lies in a database, such as the depth of a queue, sources read when
somebody asks for the metrics, and at most every five seconds however often that is.
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
"""Reads families of metrics, the same ones each time; may raise anything, which leaves them out."""
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_OTHER_METHOD: Final = "other"
_READ_SECONDS: Final = 5.0
_LONGEST_READ_SECONDS: Final = 5.0

disable_created_metrics()  # type: ignore[no-untyped-call] # a series more for each, which nobody reads
_log = get_logger(__name__)


class RequestMetrics:
    """Requests by method, route and status, and their durations; the process itself; what the sources read."""

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
    """Metrics that are read when somebody asks for them; those who ask meanwhile, or soon after, share a reading."""

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
        """Read these from now on."""
        self._sources[:] = sources

    async def read(self) -> None:
        """Read all sources, unless that was done just now."""
        self._read = await self._reading.get(None, self._read_all)

    def describe(self) -> Iterable[Metric]:
        """Say nothing: what there is, is known when it was read."""
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
        except Exception as error:  # noqa: BLE001 - the other metrics say what is wrong, so they have to be there
            self._failures.inc()
            _log.warning("metrics.source_failed", error=type(error).__name__)
            return ()
