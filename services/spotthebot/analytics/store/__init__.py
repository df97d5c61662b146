"""The only SQL of `analytics`, one module for each noun."""

from spotthebot.analytics.store import analyses, pseudonym_keys, results

__all__ = ["analyses", "pseudonym_keys", "results"]
