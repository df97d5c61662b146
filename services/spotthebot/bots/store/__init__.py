"""The only SQL of the service `bots`, by noun."""

from spotthebot.bots.store import bots, hosted_models, probes, versions

__all__ = ["bots", "hosted_models", "probes", "versions"]
