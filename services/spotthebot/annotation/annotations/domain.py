"""Annotations in the form in which they are stored. They were submitted here or imported."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from spotthebot.annotation.judges.domain import AnnotatingJudge
from spotthebot.annotation.packages.domain.packages import PackedConversation
from spotthebot.annotation.protocols.domain.exchanges import Decision
from spotthebot.contracts.annotation.annotations import AnnotatorKind, Answer
from spotthebot.contracts.annotation.judges import JudgeLabels
from spotthebot.contracts.annotation.uploads import ImportedAnnotationIn


@dataclass(frozen=True)
class StoredAnnotation:
    """An annotation with the ids of its item's conversation and package; it does not say who spoke.

    For a pair, `right` is the conversation on the right, and the other fields describe the conversation on the left.
    `annotator_external_id` is the frontend's id; readers of annotations get a person's pseudonym instead.
    """

    id: UUID
    conversation_id: UUID
    package_id: UUID
    exchanges: int
    right: PackedConversation | None
    annotator_id: UUID
    annotator_external_id: str
    annotator_kind: AnnotatorKind
    judge: AnnotatingJudge | None
    judge_labels: JudgeLabels | None
    answer: Answer
    decisions: tuple[Decision, ...]
    question_order: tuple[str, ...]
    started_at: datetime | None
    ended_at: datetime | None
    elapsed_ms: int | None
    reported_ms: int | None


@dataclass(frozen=True)
class AnnotatedItem:
    """An annotation, the position of its item, and the names that exports use for item, package and conversation."""

    annotation: StoredAnnotation
    external_id: str
    package: str
    position: int
    conversation: str
    right_conversation: str | None


@dataclass(frozen=True)
class ImportedAnnotation:
    """An uploaded annotation with its annotator and its item."""

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
    """The number of a campaign's annotations, and a text that changes whenever an annotation changes."""

    annotations: int
    revision: str
