"""The most that lists of results hold: far beyond any study, so that a reader can count on an end."""

MAX_BOTS = 10_000
MAX_PAIRS = 1_000_000
MAX_ANNOTATORS = 100_000
MAX_LENGTHS = 1000
"""Lengths, in exchanges, at which conversations are seen."""
