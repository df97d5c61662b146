"""The bots to request turns from, and the number of simultaneous requests.

The service `bots` decides a bot's status, and the status says whether the bot's conversations wait. Concurrency slots
limit the number of a bot's simultaneous requests, and expire after the longest duration of a request.
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
    """A request for slots at a bot that allows `limit` slots; acquired slots expire after `seconds`."""

    slots: int
    limit: int
    seconds: float


@dataclass(frozen=True)
class AcquiredSlots:
    """Slots acquired at a bot."""

    id: UUID
    slots: int


def request_slots(conversations: int, limits: Limits | None) -> SlotRequest:
    """Return the slots that this many conversations need at a bot.

    `limits` are the bot's limits, or None for a bot unknown to `bots`.

    Slots expire after the longest duration of a request: the bot's time-out twice, once in the queue of `bots` and once
    for the reply. An unknown bot needs no limit, because the request for turns will be refused.
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
