"""Metrics show the operator how many jobs wait, and how fast contexts are scored."""
