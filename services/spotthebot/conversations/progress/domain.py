"""The progress of a collection: how far a pair is, and why conversations failed."""

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
    """Why conversations of a collection failed, or wait; `bot` was to speak next, and is waited for `since` then."""

    state: Literal["failed", "waiting"]
    reason: str
    bot: str | None
    conversations: int
    since: datetime | None
