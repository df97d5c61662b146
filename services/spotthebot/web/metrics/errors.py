"""Errors of requests for metrics."""

from spotthebot.kit.errors import Forbidden


class NoKeyForMetrics(Forbidden):
    """Metrics are for API keys with the roles admin and service."""

    title = "Not for this key"
