"""SQL conditions about states, made from the tables of the domain: no state is decided in SQL.

They are constants, not parameters, so that PostgreSQL uses partial indexes for them.
"""

from collections.abc import Collection
from enum import StrEnum

from spotthebot.conversations.domain import collections


def is_one_of(column: str, states: Collection[StrEnum]) -> str:
    """Return the condition that a column is one of these states."""
    listed = [f"'{state}'" for state in sorted(states)]
    return f"{column} = {listed[0]}" if len(listed) == 1 else f"{column} IN ({', '.join(listed)})"


def requests_turns(alias: str) -> str:
    """Return the condition that runners request turns for a collection."""
    return is_one_of(f"{alias}.state", collections.REQUESTS_TURNS)


def is_complete_now(alias: str) -> str:
    """Return the condition that an open collection's last conversation has ended; human-bot ones stay open for more."""
    may_complete = is_one_of(f"{alias}.state", collections.states_before(collections.COMPLETE))
    ended = f"{alias}.complete + {alias}.failed + {alias}.cancelled >= {alias}.conversations"
    return f"{may_complete} AND {alias}.mode <> 'human_bot' AND {ended}"
