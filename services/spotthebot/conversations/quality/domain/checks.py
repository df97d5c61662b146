"""The lifecycle of a collection's quality check: its conversations are flagged, then compared, then summed up."""

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
"""A new request waits whatever the state was; a job that is run again flags what has no flags yet."""

UNFINISHED: Final = (_State.WAITING, _State.FLAGGING, _State.COMPARING)
"""The states in which a job is to serve the latest request."""


def sources_of(state: QualityCheckState) -> list[QualityCheckState]:
    """Return the states from which a check may come into this one."""
    return [source for source, targets in TRANSITIONS.items() if state in targets]


@dataclass(frozen=True)
class CheckRequest:
    """The request that a job serves; a later one has another `requested_at`."""

    collection_id: UUID
    requested_at: datetime
    training: TrainingSplit | None


@dataclass(frozen=True)
class QualityCheck:
    """The progress of a collection's check, and the summary of the last one that ended."""

    collection_id: UUID
    state: QualityCheckState
    failure: str | None
    training: TrainingSplit | None
    conversations: int
    flagged: int
    requested_at: datetime
    checked_at: datetime | None
    summary: QualitySummaryOut | None
