"""Annotations as they are stored: made here, or elsewhere and imported."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from spotthebot.annotation.packages.domain.packages import PackedConversation
from spotthebot.annotation.protocols.domain.exchanges import Decision
from spotthebot.contracts.annotation.annotations import Answer
from spotthebot.contracts.annotation.uploads import ImportedAnnotationIn


@dataclass(frozen=True)
class StoredAnnotation:
    """An annotation with the ids of its item's conversation and package; nothing says who spoke.

    Of a pair the conversation is the one on the left, and `right` the other.
    """

    id: UUID
    conversation_id: UUID
    package_id: UUID
    exchanges: int
    right: PackedConversation | None
    annotator_id: UUID
    annotator: str
    answer: Answer
    decisions: tuple[Decision, ...]
    started_at: datetime | None
    ended_at: datetime | None
    elapsed_ms: int | None
    reported_ms: int | None


@dataclass(frozen=True)
class AnnotatedItem:
    """An annotation, the position of its item, and the ids by which files name it, its package and its conversation."""

    annotation: StoredAnnotation
    external_id: str
    package: str
    position: int
    conversation: str
    right_conversation: str | None


@dataclass(frozen=True)
class ImportedAnnotation:
    """An uploaded annotation, its annotator and the item that it is about."""

    item_id: UUID
    annotator_id: UUID
    uploaded: ImportedAnnotationIn

    @property
    def decisions(self) -> tuple[Decision, ...]:
        return tuple(
            Decision(each.question, each.target, each.exchanges, each.opened_at, each.decided_at)
            for each in self.uploaded.decisions
        )


@dataclass(frozen=True)
class AnnotationsRevision:
    """The number of a campaign's annotations, and a text that changes whenever one of them does."""

    annotations: int
    revision: str
