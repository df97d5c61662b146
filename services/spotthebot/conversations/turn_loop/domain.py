"""Which bots turns are requested from, and how many at a time.

A bot's status, which the service `bots` decides, says whether its conversations wait. Concurrency slots say how many
requests a bot gets at a time, and for how long a request may occupy a slot.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from spotthebot.contracts.bots.registry import BotStatus, Limits
from spotthebot.conversations.conversations.domain import Conversation

_MARGIN_SECONDS = 10.0
_UNKNOWN_BOT_SECONDS = 60.0


@dataclass(frozen=True)
class SlotRequest:
    """Slots to acquire at a bot that allows `limit` of them; they expire after `seconds`."""

    slots: int
    limit: int
    seconds: float


@dataclass(frozen=True)
class AcquiredSlots:
    """Slots acquired at a bot."""

    id: UUID
    slots: int


def request_slots(conversations: int, limits: Limits | None) -> SlotRequest:
    """Return the slots that so many conversations need at a bot, by its limits; None if `bots` does not know it.

    They expire after the longest time that a request can take: the bot's time-out twice, once in the queue of `bots`
    and once for the reply. An unknown bot needs no limit: the request for turns will be refused.
    """
    if limits is None:
        return SlotRequest(conversations, limit=conversations, seconds=_UNKNOWN_BOT_SECONDS)
    seconds = 2 * limits.timeout_seconds + _MARGIN_SECONDS
    return SlotRequest(conversations, limit=limits.concurrency, seconds=seconds)


def in_turn(conversations: Iterable[Conversation], priorities: Mapping[UUID, int]) -> list[Conversation]:
    """Order conversations by the priority of their collection; collections of one priority take turns."""
    seen: Counter[UUID] = Counter()
    ranked = []
    for each in conversations:
        ranked.append(((-priorities.get(each.collection_id, 0), seen[each.collection_id]), each))
        seen[each.collection_id] += 1
    ranked.sort(key=lambda pair: pair[0])
    return [each for _, each in ranked]


REPLIES: Final = frozenset({BotStatus.ACTIVE, BotStatus.PROBING})
"""Statuses of bots that turns are requested from."""
MAY_RECOVER: Final = frozenset({BotStatus.FAILING, BotStatus.SUSPENDED})
"""Statuses of bots whose conversations wait."""
TAKES_NO_PART: Final = frozenset({BotStatus.SUSPENDED, BotStatus.RETIRED})
"""Statuses of bots that no new collection may name."""


@dataclass(frozen=True)
class UnavailableBot:
    """A bot that no worker requests a turn from until it recovers."""

    bot_id: UUID
    name: str
    reason: str
    since: datetime
