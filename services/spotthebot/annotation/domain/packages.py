"""Packages of segments, as they are stored."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True)
class PackedSegment:
    """A conversation up to a number of exchanges."""

    conversation_id: UUID
    exchanges: int


@dataclass(frozen=True)
class NewPackage:
    """A package to store, by its external id where it was used elsewhere, or by its block where it was allocated."""

    segments: tuple[PackedSegment, ...]
    external_id: str | None = None
    block: int | None = None


@dataclass(frozen=True)
class Package:
    """Segments that one annotator labels in one sitting."""

    id: UUID
    external_id: str | None
    segments: tuple[PackedSegment, ...]
