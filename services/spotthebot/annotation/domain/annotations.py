"""Annotations as they are stored: made here, or elsewhere and imported."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from spotthebot.annotation.domain.packages import PackedConversation
from spotthebot.contracts.annotation import Annotation, Answer, ImportedAnnotationIn


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
    annotator: str
    answer: Answer
    started_at: datetime | None
    ended_at: datetime | None
    elapsed_ms: int | None
    reported_ms: int | None


@dataclass(frozen=True)
class ImportedAnnotation:
    """An uploaded annotation, its annotator and the item that it is about."""

    item_id: UUID
    annotator_id: UUID
    uploaded: ImportedAnnotationIn


@dataclass(frozen=True)
class AnnotationsRevision:
    """The number of a campaign's annotations, and a text that changes whenever one of them does."""

    annotations: int
    revision: str


def spot_the_bot_answer(annotation: Annotation) -> Answer:
    """Return the answer by the protocol `spot_the_bot` that says what an annotation says."""
    return {
        "entity": {"A": annotation.label_a.value, "B": annotation.label_b.value},
        "fluency": annotation.fluency.value,
        "sensibleness": annotation.sensibleness.value,
        "specificity": annotation.specificity.value,
    }
