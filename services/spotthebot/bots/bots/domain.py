"""A registered bot, its versions, and who may see it; the states of a bot; and the fingerprints of versions.

Use cases and SQL share one table of all transitions between states. Five causes change a status. A *registration* adds
a version, which has to be probed. A *probe* finds that the bot answers or fails. A *circuit* opens after failures in a
row. *Hosting* replaces the files of a model. The *owner* suspends, resumes and retires the bot.

Fingerprints are hashes of the dialogues that a bot learned from, and of everything that decides its replies. The hash
of a configuration always covers the fields of release 0.1.0, and a later field only if it differs from its default. So
the hashes of stored versions stay the same when a release adds an optional field.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from spotthebot.bots.questions.domain.dialogue import Dialogue
from spotthebot.contracts.access import Role
from spotthebot.contracts.bots.probes import ProbeReport
from spotthebot.contracts.bots.protocols import Protocol
from spotthebot.contracts.bots.registry import BotId, BotStatus, Limits
from spotthebot.kit.access.keys import Principal

PROBING, ACTIVE, FAILING = BotStatus.PROBING, BotStatus.ACTIVE, BotStatus.FAILING
SUSPENDED, RETIRED = BotStatus.SUSPENDED, BotStatus.RETIRED

INITIAL = PROBING
"""The status of a new bot."""
GETS_NO_QUESTIONS = frozenset({SUSPENDED, RETIRED})
"""Asking a bot in one of these states is the caller's error. A failing bot's questions fail without a request."""
_ALWAYS_HASHED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "webhook": frozenset({"kind", "url", "version"}),
        "openai": frozenset(
            {
                *("kind", "base_url", "model", "system_prompt", "opening_prompt", "temperature", "top_p"),
                *("max_tokens", "frequency_penalty", "presence_penalty", "stop", "sends_seed"),
            }
        ),
        "parlai": frozenset({"kind", "url", "service", "history"}),
        "triton": frozenset({"kind", "url", "transport", "model", "sampling"}),
        "transformers": frozenset({"kind", "model", "revision", "sampling"}),
        "builtin": frozenset({"kind", "model", "corpus_id", "split", "seed"}),
        "sampling": frozenset({"max_new_tokens", "temperature", "top_p", "top_k", "repetition_penalty"}),
    }
)
"""The fields of release 0.1.0, by a protocol's kind or a nested field's name. Add no field here: see above."""


@dataclass(frozen=True)
class BotVersion:
    """One version of a bot. Only its `sealed_secret`, which is encrypted, may change."""

    id: UUID
    number: int
    protocol: Protocol
    sealed_secret: bytes | None
    training_sha256: str | None
    files_sha256: str | None
    configuration_sha256: str
    created_at: datetime

    @property
    def has_secret(self) -> bool:
        return self.sealed_secret is not None


@dataclass(frozen=True)
class Bot:
    """A registered bot with its present version."""

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
    """The time from which the bot's server takes requests again; it may be in the past."""
    version: BotVersion
    probe: ProbeReport | None
    created_at: datetime

    @property
    def pause_seconds(self) -> float:
        """The seconds for which the bot's server still refuses requests."""
        return max(0.0, (self.paused_until - datetime.now(UTC)).total_seconds()) if self.paused_until else 0.0

    def is_visible_to(self, principal: Principal) -> bool:
        """Return whether the caller may see this bot: a team sees only its own bots."""
        return principal.role != Role.TEAM or (self.team is not None and self.team == principal.team)


class Cause(StrEnum):
    """The causes of a change of a bot's status."""

    REGISTRATION = "registration"
    PROBE = "probe"
    CIRCUIT = "circuit"
    HOSTING = "hosting"
    OWNER = "owner"


class StatusEvent(StrEnum):
    """The events that can change a bot's status."""

    VERSION_ADDED = "version_added"
    PROBE_PASSED = "probe_passed"
    PROBE_FAILED = "probe_failed"
    CIRCUIT_OPENED = "circuit_opened"
    MODEL_CHANGED = "model_changed"
    ACTIVATED = "activated"
    SUSPENDED = "suspended"
    RETIRED = "retired"


CAUSES: Mapping[StatusEvent, Cause] = MappingProxyType(
    {
        StatusEvent.VERSION_ADDED: Cause.REGISTRATION,
        StatusEvent.PROBE_PASSED: Cause.PROBE,
        StatusEvent.PROBE_FAILED: Cause.PROBE,
        StatusEvent.CIRCUIT_OPENED: Cause.CIRCUIT,
        StatusEvent.MODEL_CHANGED: Cause.HOSTING,
        StatusEvent.ACTIVATED: Cause.OWNER,
        StatusEvent.SUSPENDED: Cause.OWNER,
        StatusEvent.RETIRED: Cause.OWNER,
    }
)

TRANSITIONS: Mapping[StatusEvent, Mapping[BotStatus, BotStatus]] = MappingProxyType(
    {
        StatusEvent.VERSION_ADDED: {PROBING: PROBING, ACTIVE: PROBING, FAILING: PROBING, SUSPENDED: SUSPENDED},
        StatusEvent.PROBE_PASSED: {PROBING: ACTIVE, ACTIVE: ACTIVE, FAILING: ACTIVE},
        StatusEvent.PROBE_FAILED: {PROBING: FAILING, ACTIVE: FAILING, FAILING: FAILING},
        StatusEvent.CIRCUIT_OPENED: {ACTIVE: FAILING},
        StatusEvent.MODEL_CHANGED: {ACTIVE: FAILING, FAILING: FAILING},
        StatusEvent.ACTIVATED: {PROBING: PROBING, ACTIVE: ACTIVE, FAILING: FAILING, SUSPENDED: PROBING},
        StatusEvent.SUSPENDED: {PROBING: SUSPENDED, ACTIVE: SUSPENDED, FAILING: SUSPENDED, SUSPENDED: SUSPENDED},
        StatusEvent.RETIRED: dict.fromkeys(BotStatus, RETIRED),
    }
)
"""For each event, the new status by the present status. An event has no effect in other statuses."""

OWNER_EVENTS: Mapping[BotStatus, StatusEvent] = MappingProxyType(
    {ACTIVE: StatusEvent.ACTIVATED, SUSPENDED: StatusEvent.SUSPENDED, RETIRED: StatusEvent.RETIRED}
)
"""The event for each status that an owner may request."""


def next_status(status: BotStatus, event: StatusEvent) -> BotStatus | None:
    """Return a bot's status after an event; None if this status does not allow the event."""
    return TRANSITIONS[event].get(status)


@dataclass(frozen=True)
class Fingerprints:
    """The hashes of a version's sources: of the dialogues that it learned from, or of the files of its model."""

    training_sha256: str | None = None
    files_sha256: str | None = None


def fingerprint_dialogues(dialogues: Sequence[Dialogue]) -> str:
    """Return the SHA-256 of the dialogues that a bot learns from; it depends on their order."""
    return _sha256([list(turns) for turns in dialogues])


def fingerprint_configuration(protocol: Protocol, made_from: Fingerprints) -> str:
    """Return the SHA-256 of everything that decides a bot's replies; the bot's secret is not included."""
    facts = {"protocol": _hashed_fields(protocol.kind, protocol), "training": made_from.training_sha256}
    return _sha256(facts | ({"files": made_from.files_sha256} if made_from.files_sha256 else {}))


def _hashed_fields(name: str, model: BaseModel) -> dict[str, Any]:
    always = _ALWAYS_HASHED.get(name, frozenset())
    hashed = model.model_dump(mode="json")
    for field, info in type(model).model_fields.items():
        value = getattr(model, field)
        if field not in always and value == info.get_default(call_default_factory=True, validated_data={}):
            del hashed[field]
        elif isinstance(value, BaseModel):
            hashed[field] = _hashed_fields(field, value)
    return hashed


def _sha256(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
