"""The states of a step job, and the allowed transitions between them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID


class StepJobState(StrEnum):
    """The state of a step job."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETE = "complete"
    CANCELLED = "cancelled"
    FAILED = "failed"
    """`failure` has the reason."""


TRANSITIONS: Final[Mapping[StepJobState, frozenset[StepJobState]]] = MappingProxyType(
    {
        StepJobState.QUEUED: frozenset({StepJobState.RUNNING, StepJobState.CANCELLED, StepJobState.FAILED}),
        StepJobState.RUNNING: frozenset({StepJobState.COMPLETE, StepJobState.CANCELLED, StepJobState.FAILED}),
        StepJobState.COMPLETE: frozenset(),
        StepJobState.CANCELLED: frozenset(),
        StepJobState.FAILED: frozenset(),
    }
)
"""The states that may follow each state; SQL conditions are made from this table."""
ACTIVE: Final = tuple(state for state, following in TRANSITIONS.items() if following)
"""The states of unfinished jobs. A worker may run such a job, also again after another worker was killed."""


def states_before(state: StepJobState) -> tuple[StepJobState, ...]:
    """Return the states from which a job may go to `state`."""
    return tuple(before for before, following in TRANSITIONS.items() if state in following)


@dataclass(frozen=True)
class StepJob:
    """A stored job. The results of `done` of its `steps` steps are stored. `result` is set once the job is complete.

    `subject_id` is the id of the subject of the job, if any. `inputs` describes the data that the steps use, and
    `fingerprint` identifies these data. `version` is the software's version when the job started.
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
