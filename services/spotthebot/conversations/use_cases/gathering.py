"""When to ask a bot: at once, or together with other conversations that will wait for it in a moment.

A request costs the house as much as several replies. Where many bots talk, conversations that went in step soon go
apart, and requests would come down to a few contexts each. So there are few requests at a time, the largest first, and
what is to be asked next gathers meanwhile. A bot that takes its time is asked soon nevertheless: of such requests there
are few anyway, and to wait for them would cost more than they do.
"""

import math
from collections.abc import Mapping, Sequence
from uuid import UUID

from spotthebot.conversations.domain.conversations import Conversation
from spotthebot.conversations.domain.stepping import Step

_SLOW_MILLISECONDS = 100.0
_SLOW_WAITS_SECONDS = 0.02
_QUICK_WAITS_SECONDS = 0.5


class Gathering:
    """What waits for which bot, and since when. Times are of one clock, in seconds."""

    def __init__(self, batch: int, contexts: int) -> None:
        self._contexts = contexts
        self._enough = 2 * math.ceil(batch / contexts)
        self._since: dict[UUID, float] = {}
        self._took: dict[UUID, float] = {}

    def choose(
        self, waiting: Mapping[UUID, Sequence[Conversation]], *, under_way: int, now: float
    ) -> dict[UUID, Sequence[Conversation]]:
        """Return what to ask now, with so many requests under way: what fills a request, or has waited for long."""
        self._since = {bot: self._since.get(bot, now) for bot in waiting}
        chosen: dict[UUID, Sequence[Conversation]] = {}
        for bot, conversations in sorted(waiting.items(), key=lambda pair: -len(pair[1])):
            is_due = now >= self._due(bot) or len(conversations) >= self._contexts
            if is_due or under_way < self._enough:
                chosen[bot] = conversations
                under_way += math.ceil(len(conversations) / self._contexts)
        self._since = {bot: since for bot, since in self._since.items() if bot not in chosen}
        return chosen

    def seconds_left(self, now: float) -> float:
        """Return after which time something has waited for long; infinity where nothing waits."""
        return max(0.0, min(map(self._due, self._since), default=math.inf) - now)

    def note(self, steps: Sequence[Step]) -> None:
        """Learn how long bots take, from the quickest of their replies: the others may have waited in the house."""
        quickest: dict[UUID, float] = {}
        for each in steps:
            bot = each.before.next_bot
            if bot is not None and each.latency_ms is not None:
                quickest[bot] = min(each.latency_ms, quickest.get(bot, math.inf))
        self._took |= quickest

    def _due(self, bot_id: UUID) -> float:
        is_slow = self._took.get(bot_id, math.inf) >= _SLOW_MILLISECONDS
        return self._since[bot_id] + (_SLOW_WAITS_SECONDS if is_slow else _QUICK_WAITS_SECONDS)
