"""What a simulated campaign adds to the table: of each kind, how many of how many."""

from typing import TypeAlias

Tallies: TypeAlias = dict[str, tuple[int, int]]
"""By kind: how many intervals held the truth, or campaigns made a false claim, and of how many."""
FALSE = "any false"
"""Kinds that count false claims have it in their name: at most 5 % of campaigns may make one."""
