"""The only SQL of `fed`."""

from spotthebot.fed.store import dimension_sets, likelihoods, metrics, score_sets

__all__ = ["dimension_sets", "likelihoods", "metrics", "score_sets"]
