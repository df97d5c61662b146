"""Metrics count what campaigns hold, for Prometheus."""
