"""Prometheus metrics of the HTTP edge; each application has a registry of its own."""

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest


class RequestMetrics:
    """Requests by method, route and status, and their durations."""

    def __init__(self, service: str) -> None:
        self.registry = CollectorRegistry()
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
        self._service = service
        self._known: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        known = self._known.get((method, route, status))
        if known is None:
            known = self._known[method, route, status] = (
                self._requests.labels(self._service, method, route, str(status)),
                self._seconds.labels(self._service, method, route),
            )
        known[0].inc()
        known[1].observe(seconds)

    def render(self) -> bytes:
        return generate_latest(self.registry)
