"""Versions of protocols, built in or stored."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from spotthebot.annotation.protocols.domain.builtin import built_in_protocols
from spotthebot.contracts.annotation.protocols import AnnotationProtocol


@dataclass(frozen=True)
class ProtocolVersion:
    """One version of a protocol; built-in versions are never stored."""

    protocol: AnnotationProtocol
    created_at: datetime | None

    @property
    def is_built_in(self) -> bool:
        return self.created_at is None


@dataclass(frozen=True)
class ProtocolSummary:
    """A version of a protocol in a list ordered by id; built-in versions come first."""

    id: UUID
    name: str
    version: int
    title: str
    source: str
    created_at: datetime | None


def built_in_summaries(*, name: str | None = None) -> list[ProtocolSummary]:
    """Return the built-in protocols as list entries, with ids smaller than those of stored protocols."""
    return [
        ProtocolSummary(UUID(int=number), each.name, each.version, each.title, each.source, created_at=None)
        for number, each in enumerate(built_in_protocols().values(), 1)
        if name in {None, each.name}
    ]
