"""Annotations as they are stored: made here, or elsewhere and imported."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from spotthebot.contracts.annotation import Annotation, ImportedAnnotationIn


@dataclass(frozen=True)
class StoredAnnotation:
    """An annotation with the ids of its segment's conversation and package; nothing says who spoke."""

    id: UUID
    conversation_id: UUID
    package_id: UUID
    exchanges: int
    annotator: str
    annotation: Annotation
    started_at: datetime | None
    ended_at: datetime | None
    elapsed_ms: int | None


@dataclass(frozen=True)
class ImportedAnnotation:
    """An uploaded annotation and the segment that it is about."""

    segment_id: UUID
    uploaded: ImportedAnnotationIn


@dataclass(frozen=True)
class AnnotationsRevision:
    """The number of a campaign's annotations, and a text that changes whenever one of them does."""

    annotations: int
    revision: str
