"""The health of services, read from their readiness checks and metrics."""

import re
from dataclasses import dataclass
from typing import Final

_SAMPLE: Final = re.compile(r'^http_requests_total\{.*status="(\d)\d\d".*\} ([0-9.e+]+)$', re.MULTILINE)
_RELEASE: Final = re.compile(r'^spotthebot_build\{.*version="([^"]+)"', re.MULTILINE)
_SECONDS: Final = re.compile(r"^http_request_duration_seconds_sum\{.*\} ([0-9.e+-]+)$", re.MULTILINE)


@dataclass(frozen=True)
class ServiceHealth:
    """The health of one service. `reason` says why the service is not ready; None if it is ready.

    The other figures count from the start of the service's process. They are None if its metrics can't be read.
    """

    name: str
    reason: str | None
    requests: int | None = None
    own_faults: int | None = None
    """Answers with a status of 500 or higher."""
    mean_ms: float | None = None
    release: str | None = None


def health_of(name: str, reason: str | None, metrics: str | None) -> ServiceHealth:
    """Return the health of a service. `metrics` is in the text format of Prometheus; None if they can't be read."""
    if metrics is None:
        return ServiceHealth(name, reason)
    release = _RELEASE.search(metrics)
    counts = [(status, float(count)) for status, count in _SAMPLE.findall(metrics)]
    requests = sum(count for _, count in counts)
    seconds = sum(float(each) for each in _SECONDS.findall(metrics))
    return ServiceHealth(
        name,
        reason,
        requests=int(requests),
        own_faults=int(sum(count for status, count in counts if status == "5")),
        mean_ms=1000 * seconds / requests if requests else None,
        release=release and release[1],
    )
