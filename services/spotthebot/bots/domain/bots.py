"""A registered bot, its versions, the fingerprint of what answers, and who may see it."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from spotthebot.bots.domain.dialogue import Dialogue
from spotthebot.contracts.access import Role
from spotthebot.contracts.bots import BotId, BotStatus, Limits, ProbeReport, Protocol
from spotthebot.kit.access.keys import Principal


@dataclass(frozen=True)
class BotVersion:
    """One way of answering, as it was registered; it stays as it is. `sealed_secret` is encrypted."""

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
    status: BotStatus
    status_reason: str | None
    version: BotVersion
    probe: ProbeReport | None
    created_at: datetime

    def is_visible_to(self, principal: Principal) -> bool:
        """Say whether the caller may know of this bot: a team sees only its own."""
        return principal.role != Role.TEAM or (self.team is not None and self.team == principal.team)


@dataclass(frozen=True)
class Fingerprints:
    """What a version was made from: the dialogues that it learned from, or the files of its model."""

    training_sha256: str | None = None
    files_sha256: str | None = None


def fingerprint_dialogues(dialogues: Sequence[Dialogue]) -> str:
    """Return the SHA-256 of what a bot learns from; the order counts."""
    return _sha256([list(turns) for turns in dialogues])


def fingerprint_configuration(protocol: Protocol, made_from: Fingerprints) -> str:
    """Return the SHA-256 of all that decides what a bot replies; its secret does not."""
    facts = {"protocol": protocol.model_dump(mode="json"), "training": made_from.training_sha256}
    return _sha256(facts | ({"files": made_from.files_sha256} if made_from.files_sha256 else {}))


def _sha256(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
