"""Upper limits for the lengths of lists in results. No real study reaches them; a reader can rely on them."""

MAX_BOTS = 10_000
MAX_PAIRS = 1_000_000
MAX_ANNOTATORS = 100_000
MAX_LENGTHS = 1000
"""The number of different lengths, in exchanges, at which annotators see conversations."""
