"""Waits, limits and answers that are kept for a time."""
