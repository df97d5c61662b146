"""An assignment, a package in the hands of an annotator: its states, and which state may follow which."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final
from uuid import UUID

from spotthebot.contracts.annotation import Annotation, AssignmentId, AssignmentState, CampaignId, PackageId
from spotthebot.contracts.conversations import Turn

TRANSITIONS: Final[Mapping[AssignmentState, frozenset[AssignmentState]]] = MappingProxyType(
    {
        AssignmentState.CLAIMED: frozenset({AssignmentState.COMPLETE, AssignmentState.EXPIRED}),
        AssignmentState.EXPIRED: frozenset({AssignmentState.CLAIMED}),
        AssignmentState.COMPLETE: frozenset(),
    }
)
"""The states that may follow each state; the conditions of the SQL come from here."""
COUNTED: Final = (AssignmentState.CLAIMED, AssignmentState.COMPLETE)
"""The states in which an assignment counts as one of the annotators that a package needs."""


def states_before(state: AssignmentState) -> tuple[AssignmentState, ...]:
    """Return the states from which an assignment may come to `state`."""
    return tuple(before for before, following in TRANSITIONS.items() if state in following)


@dataclass(frozen=True)
class ShownSegment:
    """A segment as an annotator sees it."""

    id: UUID
    position: int
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class Assignment:
    """A package in the hands of an annotator, with the annotations so far by segment."""

    id: AssignmentId
    campaign_id: CampaignId
    package_id: PackageId
    annotator: str
    state: AssignmentState
    expires_at: datetime
    completion_code: str | None
    segments: tuple[ShownSegment, ...]
    annotations: Mapping[UUID, Annotation]
