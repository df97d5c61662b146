"""The only SQL of `analytics`, one module for each noun."""

from spotthebot.analytics.store import analyses, results

__all__ = ["analyses", "results"]
