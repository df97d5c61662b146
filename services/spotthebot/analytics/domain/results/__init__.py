"""Shapes the statistics' results for the wire: bots by name, what is undefined as null."""
