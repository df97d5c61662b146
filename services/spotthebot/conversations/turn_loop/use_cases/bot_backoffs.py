"""Backoffs: how long a runner sends no request to a bot after trouble. Other bots get requests meanwhile."""

import math
from collections import Counter
from http import HTTPStatus
from uuid import UUID

from spotthebot.conversations.conversations.domain import PEER_BACKOFF, TURN_BACKOFF
from spotthebot.kit.telemetry.logs import get_logger

_log = get_logger(__name__)


class BotBackoffs:
    """Counts troubles in a row for each bot. Times are of one clock, in seconds."""

    def __init__(self) -> None:
        self._failures: Counter[UUID] = Counter()
        self._until: dict[UUID, float] = {}

    def failed(self, bot_id: UUID, trouble: Exception, now: float) -> None:
        """Send a bot no requests for a while; for longer if the service `bots` fails, which counts as an attempt."""
        self._failures[bot_id] += 1
        has_failed = getattr(trouble, "status", None) == HTTPStatus.INTERNAL_SERVER_ERROR
        seconds = (TURN_BACKOFF if has_failed else PEER_BACKOFF).seconds(self._failures[bot_id])
        self._until[bot_id] = now + seconds
        _log.warning("runner.backs_off", peer="bots", bot=str(bot_id), seconds=seconds, reason=str(trouble)[:200])

    def succeeded(self, bot_id: UUID) -> None:
        self._failures.pop(bot_id, None)
        self._until.pop(bot_id, None)

    def holds(self, bot_id: UUID | None, now: float) -> bool:
        """Return whether a bot gets no requests at present."""
        return bot_id is not None and self._until.get(bot_id, -math.inf) > now
