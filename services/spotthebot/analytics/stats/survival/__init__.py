"""Survival on censored times: current-status data, which annotations at a few lengths are, and intervals in general."""
