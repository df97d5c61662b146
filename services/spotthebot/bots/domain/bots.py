"""A registered bot, its versions, and who may see it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from spotthebot.contracts.access import Role
from spotthebot.contracts.bots import BotId, BotStatus, Limits, ProbeReport, Protocol
from spotthebot.kit.access.keys import Principal


@dataclass(frozen=True)
class BotVersion:
    """One version of a bot: never changed, but for `sealed_secret`, which is encrypted."""

    id: UUID
    number: int
    protocol: Protocol
    sealed_secret: bytes | None
    training_sha256: str | None
    files_sha256: str | None
    configuration_sha256: str
    created_at: datetime


@dataclass(frozen=True)
class Bot:
    """A bot and its present version."""

    id: BotId
    name: str
    team: str | None
    description: str
    domains: tuple[str, ...]
    limits: Limits
    public: bool
    status: BotStatus
    status_reason: str | None
    paused_until: datetime | None
    """When the bot's server wants to be asked again; it may be over."""
    version: BotVersion
    probe: ProbeReport | None
    created_at: datetime

    @property
    def pause_seconds(self) -> float:
        """How long the bot's server still wants no request."""
        return max(0.0, (self.paused_until - datetime.now(UTC)).total_seconds()) if self.paused_until else 0.0

    def is_visible_to(self, principal: Principal) -> bool:
        """Return whether the caller may see this bot: a team sees only its own."""
        return principal.role != Role.TEAM or (self.team is not None and self.team == principal.team)
