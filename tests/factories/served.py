"""What the services of a running suite serve: requests by service, method and route, as their metrics count them."""

from collections import Counter

from tests.factories.running_suite import RunningSuite

Served = Counter[tuple[str, str, str]]


def served(suite: RunningSuite) -> Served:
    """Return the requests that each service has answered since it started, by (service, method, route)."""
    counted: Served = Counter()
    for service, app in suite.apps.items():
        for metric in app.state.core.metrics.registry.collect():
            if metric.name == "http_requests":
                for sample in metric.samples:
                    labels = sample.labels
                    counted[service, labels["method"], labels["route"]] += int(sample.value)
    return counted


def table(requests: Served) -> str:
    """Return the requests as lines, the commonest first."""
    return "\n".join(f"{count:4} {' '.join(request)}" for request, count in requests.most_common())
