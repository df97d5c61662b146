"""A registered bot, the fingerprint of what answers, and who may see it."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from spotthebot.bots.domain.dialogue import Dialogue
from spotthebot.contracts.access import Role
from spotthebot.contracts.bots import BotId, BuiltinProtocol, ReplyFailure
from spotthebot.kit.access.keys import Principal

LONGEST_REPLY = 2000
"""Characters of a reply that are accepted."""


@dataclass(frozen=True)
class Bot:
    """A bot as it was registered; whatever answers stays as it is."""

    id: BotId
    name: str
    team: str | None
    description: str
    domains: tuple[str, ...]
    protocol: BuiltinProtocol
    training_sha256: str | None
    configuration_sha256: str
    created_at: datetime

    def is_visible_to(self, principal: Principal) -> bool:
        """Say whether the caller may know of this bot: a team sees only its own."""
        return principal.role != Role.TEAM or (self.team is not None and self.team == principal.team)


def fingerprint_dialogues(dialogues: Sequence[Dialogue]) -> str:
    """Return the SHA-256 of what a bot learns from; the order counts."""
    return _sha256([list(turns) for turns in dialogues])


def fingerprint_configuration(protocol: BuiltinProtocol, training_sha256: str | None) -> str:
    """Return the SHA-256 of all that decides what a bot replies."""
    return _sha256({"protocol": protocol.model_dump(mode="json"), "training": training_sha256})


def fault_of(reply: str) -> ReplyFailure | None:
    """Say what is wrong with a reply; None where nothing is."""
    if not reply.strip():
        return ReplyFailure.EMPTY
    if len(reply) > LONGEST_REPLY:
        return ReplyFailure.TOO_LONG
    return None


def _sha256(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
