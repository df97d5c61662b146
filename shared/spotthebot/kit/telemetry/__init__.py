"""Logs, traces, and the metrics of queues."""
