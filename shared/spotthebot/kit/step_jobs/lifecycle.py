"""The states of a step job, and which state may follow which."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID


class StepJobState(StrEnum):
    """Where a step job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETE = "complete"
    CANCELLED = "cancelled"
    FAILED = "failed"
    """`failure` says why."""


TRANSITIONS: Final[Mapping[StepJobState, frozenset[StepJobState]]] = MappingProxyType(
    {
        StepJobState.QUEUED: frozenset({StepJobState.RUNNING, StepJobState.CANCELLED, StepJobState.FAILED}),
        StepJobState.RUNNING: frozenset({StepJobState.COMPLETE, StepJobState.CANCELLED, StepJobState.FAILED}),
        StepJobState.COMPLETE: frozenset(),
        StepJobState.CANCELLED: frozenset(),
        StepJobState.FAILED: frozenset(),
    }
)
"""The states that may follow each state; the conditions of the SQL come from here."""
ACTIVE: Final = tuple(state for state, following in TRANSITIONS.items() if following)
"""The states that have not ended; a worker may run a job in any of them, again after another worker was killed."""


def states_before(state: StepJobState) -> tuple[StepJobState, ...]:
    """Return the states from which a job may come to `state`."""
    return tuple(before for before, following in TRANSITIONS.items() if state in following)


@dataclass(frozen=True)
class StepJob:
    """A job as it is stored: `done` of `steps` results are there; `result` is there once it is complete.

    `subject_id` is the thing that the job is about, where there is one. `inputs` describes the data that the steps were
    computed on and `fingerprint` identifies them; `version` is the software's at the start.
    """

    id: UUID
    kind: str
    subject_id: UUID | None
    request: Mapping[str, Any]
    state: StepJobState
    failure: str | None
    done: int
    steps: int
    inputs: Mapping[str, Any] | None
    fingerprint: str | None
    version: str
    result: Mapping[str, Any] | None
    created_at: datetime
    finished_at: datetime | None
