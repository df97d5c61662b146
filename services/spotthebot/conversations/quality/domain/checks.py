"""The lifecycle of a collection's quality check: conversations are flagged, then compared; then flags are counted."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from spotthebot.contracts.conversations.quality import QualityCheckState, QualitySummaryOut, TrainingSplit

_State = QualityCheckState

TRANSITIONS: Final[Mapping[QualityCheckState, frozenset[QualityCheckState]]] = {
    _State.WAITING: frozenset({_State.WAITING, _State.FLAGGING}),
    _State.FLAGGING: frozenset({_State.WAITING, _State.FLAGGING, _State.COMPARING, _State.FAILED}),
    _State.COMPARING: frozenset({_State.WAITING, _State.FLAGGING, _State.DONE, _State.FAILED}),
    _State.DONE: frozenset({_State.WAITING, _State.FLAGGING}),
    _State.FAILED: frozenset({_State.WAITING, _State.FLAGGING}),
}
"""A new request waits in any state; a restarted job continues with unflagged conversations."""

UNFINISHED: Final = (_State.WAITING, _State.FLAGGING, _State.COMPARING)
"""The states in which a job still has to serve the latest request."""


def sources_of(state: QualityCheckState) -> list[QualityCheckState]:
    """Return the states from which a check may reach this state."""
    return [source for source, targets in TRANSITIONS.items() if state in targets]


@dataclass(frozen=True)
class CheckRequest:
    """The request for a check that a job serves; a later request has another `requested_at`."""

    collection_id: UUID
    requested_at: datetime
    training: TrainingSplit | None


@dataclass(frozen=True)
class QualityCheck:
    """The progress of a collection's check, and the summary of the last completed check."""

    collection_id: UUID
    state: QualityCheckState
    failure: str | None
    training: TrainingSplit | None
    conversations: int
    flagged: int
    requested_at: datetime
    checked_at: datetime | None
    summary: QualitySummaryOut | None
