"""Survival analysis of censored times.

Annotations at a few lengths are current-status data. Other modules handle any intervals of times.
"""
