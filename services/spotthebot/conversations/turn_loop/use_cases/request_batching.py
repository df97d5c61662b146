"""The time to send a request to a bot: at once, or later with more conversations that will soon wait for the bot.

The fixed cost of a request is as high as the cost of several replies. If many bots talk, conversations that started
together drift apart, and requests would shrink to a few contexts each. So only a few requests are pending at a time,
the largest are sent first, and conversations queue up meanwhile. Requests to a slow bot are sent soon, because they are
few: waiting for more conversations would take longer than it saves.
"""

import math
from collections.abc import Mapping, Sequence
from uuid import UUID

from spotthebot.conversations.conversations.domain import Conversation, Step

_SLOW_MILLISECONDS = 100.0
_MAX_WAIT_FOR_SLOW_SECONDS = 0.02
_MAX_WAIT_FOR_QUICK_SECONDS = 0.5


class RequestBatcher:
    """Remembers which bots have waiting conversations, and since when. Times are of one clock, in seconds."""

    def __init__(self, conversations: int, contexts: int) -> None:
        self._contexts = contexts
        self._enough = 2 * math.ceil(conversations / contexts)
        self._since: dict[UUID, float] = {}
        self._latency_ms: dict[UUID, float] = {}

    def choose(
        self, waiting: Mapping[UUID, Sequence[Conversation]], *, pending: int, now: float
    ) -> dict[UUID, Sequence[Conversation]]:
        """Return the requests to send now, with `pending` requests under way: full requests and due requests."""
        self._since = {bot: self._since.get(bot, now) for bot in waiting}
        chosen: dict[UUID, Sequence[Conversation]] = {}
        for bot, conversations in sorted(waiting.items(), key=lambda pair: -len(pair[1])):
            is_due = now >= self._due(bot) or len(conversations) >= self._contexts
            if is_due or pending < self._enough:
                chosen[bot] = conversations
                pending += math.ceil(len(conversations) / self._contexts)
        self._since = {bot: since for bot, since in self._since.items() if bot not in chosen}
        return chosen

    def seconds_left(self, now: float) -> float:
        """Return the time until the next bot is due; infinity if no conversation waits."""
        return max(0.0, min(map(self._due, self._since), default=math.inf) - now)

    def learn(self, steps: Sequence[Step]) -> None:
        """Learn each bot's latency from its quickest reply, since other replies may have waited in `bots`."""
        quickest: dict[UUID, float] = {}
        for each in steps:
            bot = each.before.next_bot
            if bot is not None and each.latency_ms is not None:
                quickest[bot] = min(each.latency_ms, quickest.get(bot, math.inf))
        self._latency_ms |= quickest

    def _due(self, bot_id: UUID) -> float:
        is_slow = self._latency_ms.get(bot_id, math.inf) >= _SLOW_MILLISECONDS
        return self._since[bot_id] + (_MAX_WAIT_FOR_SLOW_SECONDS if is_slow else _MAX_WAIT_FOR_QUICK_SECONDS)
