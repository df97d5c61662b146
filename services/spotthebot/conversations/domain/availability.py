"""What a bot's status, which the service `bots` decides, means for conversations; and bots that are unavailable."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from spotthebot.contracts.bots import BotStatus

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
