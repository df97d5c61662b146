"""The progress of a collection: by pair, and by the reasons of failures."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True)
class PairProgress:
    """The conversations of a pair by state; the first of `participants` begins."""

    number: int
    participants: tuple[str, str]
    conversations: Mapping[str, int]


@dataclass(frozen=True)
class FailureReason:
    """A reason why conversations of a collection failed or wait; `bot` is their next speaker.

    `since` is the time since which conversations wait for an unavailable bot, `until` the time at which a paused bot,
    whose server limits requests, is asked again. Each is None in the other states.
    """

    state: Literal["failed", "waiting", "paused"]
    reason: str
    bot: str | None
    conversations: int
    since: datetime | None
    until: datetime | None = None
