"""Waits between attempts, rate limits, and cached answers."""
