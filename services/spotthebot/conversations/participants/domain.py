"""Partner sets: named, versioned, and never changed."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True)
class Partner:
    """A partner in its version at the set's creation; only this version is asked for replies."""

    bot_id: UUID
    name: str
    version: int
    configuration_sha256: str


@dataclass(frozen=True)
class PartnerSet:
    """One version of a partner set."""

    id: UUID
    name: str
    version: int
    description: str
    partners: tuple[Partner, ...]
    created_at: datetime
