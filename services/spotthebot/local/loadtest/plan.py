"""The load of a soak: actors and their frequency, and the limits for the services' answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

BOUNDS_MS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "claim a package": 2000,
        "first answer": 500,
        "whole answer": 500,
        "submit a package": 1000,
        "start a chat": 1000,
        "say a turn": 1000,
        "look at a chat": 500,
        "hear the reply": 5000,
        "rate a chat": 1000,
        "dashboard": 1000,
        "part of a dashboard": 3000,
        "figure": 3000,
        "start a collection": 1000,
        "look at a collection": 500,
    }
)
"""Milliseconds within which 99 of 100 requests of a kind have to be answered."""


@dataclass(frozen=True)
class LoadPlan:
    """A soak: `seconds` long, after `warm_up_seconds` that no figure includes.

    Every actor waits an exponentially distributed time before each action, with the means in seconds that the fields
    give. A collection of all bots talking to themselves begins every `collection_seconds`, once the previous one is
    complete.
    """

    seconds: float
    annotators: int = 200
    bots: int = 32
    chats: int = 8
    dashboards: int = 4
    warm_up_seconds: float = 60
    answer_seconds: float = 8
    turn_seconds: float = 6
    look_seconds: float = 15
    collection_seconds: float = 20
    sample_seconds: float = 5
    seed: int = 1
