"""A campaign, an assignment, an annotation, and the state each is in."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from spotthebot.annotation.domain.errors import CampaignNotOpen
from spotthebot.contracts.annotation import (
    AssignmentId,
    AssignmentState,
    CampaignId,
    CampaignState,
    ImportedAnnotationIn,
    Judgements,
    PackageId,
)
from spotthebot.contracts.conversations import Turn


@dataclass(frozen=True)
class Progress:
    """How much of a campaign there is and how much of it is done."""

    packages: int
    segments: int
    annotations: int
    complete_assignments: int


@dataclass(frozen=True)
class Campaign:
    """A campaign as far as it is. Its state follows from what is there, so it can't contradict it."""

    id: CampaignId
    name: str
    domain: str
    collection_id: UUID
    mode: str
    segments: tuple[int, ...]
    annotations_per_segment: int
    package_size: int
    instructions: str
    seed: int
    created_at: datetime
    built_at: datetime | None
    closed_at: datetime | None
    failure: str | None
    progress: Progress

    @property
    def state(self) -> CampaignState:
        if self.failure is not None:
            return CampaignState.FAILED
        if self.closed_at is not None:
            return CampaignState.COMPLETE
        if self.built_at is None:
            return CampaignState.BUILDING
        needed = self.progress.packages * self.annotations_per_segment
        if self.mode == "live" and self.progress.complete_assignments >= needed:
            return CampaignState.COMPLETE
        return CampaignState.OPEN

    def require_open(self) -> None:
        """Raise CampaignNotOpen unless packages can be claimed."""
        if self.state is not CampaignState.OPEN:
            raise CampaignNotOpen(name=self.name, state=self.state)


@dataclass(frozen=True)
class ShownConversation:
    """What judges may see of a conversation."""

    conversation_id: UUID
    external_id: str | None
    opening: tuple[Turn, ...]
    turns: tuple[Turn, ...]

    @property
    def exchanges(self) -> int:
        return len(self.turns) // 2


@dataclass(frozen=True)
class Assignment:
    """A package in the hands of a worker, with what was annotated so far."""

    id: AssignmentId
    campaign_id: CampaignId
    package_id: PackageId
    worker: str
    state: AssignmentState
    expires_at: datetime
    completion_code: str | None
    segments: tuple["ShownSegment", ...]
    annotations: Mapping[UUID, Judgements]


@dataclass(frozen=True)
class ShownSegment:
    """A segment as a judge sees it."""

    id: UUID
    position: int
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class ResolvedAnnotation:
    """An uploaded annotation and the segment it is about."""

    segment_id: UUID
    uploaded: ImportedAnnotationIn
