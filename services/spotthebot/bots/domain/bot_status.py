"""The states of a bot and every transition between them: one table that the use cases and the SQL share.

Five causes change a status. A *registration* adds a version, which has to be probed. A *probe* finds that the bot
answers or fails. A *circuit* opens after failures in a row. *Hosting* replaces the files of a model. The *owner*
suspends, resumes and retires the bot.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from spotthebot.contracts.bots import BotStatus

PROBING, ACTIVE, FAILING = BotStatus.PROBING, BotStatus.ACTIVE, BotStatus.FAILING
SUSPENDED, RETIRED = BotStatus.SUSPENDED, BotStatus.RETIRED

INITIAL = PROBING
"""The status of a new bot."""
GETS_NO_QUESTIONS = frozenset({SUSPENDED, RETIRED})
"""Asking a bot in one of these states is the caller's error. A failing bot's questions fail without a request."""


class Cause(StrEnum):
    """Who may change a status."""

    REGISTRATION = "registration"
    PROBE = "probe"
    CIRCUIT = "circuit"
    HOSTING = "hosting"
    OWNER = "owner"


class StatusEvent(StrEnum):
    """What happened to a bot."""

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
"""For each event: the new status by the present one. A status that an event does not list keeps it out."""

OWNER_EVENTS: Mapping[BotStatus, StatusEvent] = MappingProxyType(
    {ACTIVE: StatusEvent.ACTIVATED, SUSPENDED: StatusEvent.SUSPENDED, RETIRED: StatusEvent.RETIRED}
)
"""The event by the status that an owner may ask for."""


def next_status(status: BotStatus, event: StatusEvent) -> BotStatus | None:
    """Return a bot's status after an event; None if the event can't happen to a bot in this status."""
    return TRANSITIONS[event].get(status)
