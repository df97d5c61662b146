"""Entries of the audit log."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True)
class AuditEntry:
    """A decision that affects a person, a label or a campaign: its API key, its time and its details."""

    id: UUID
    at: datetime
    key_id: UUID
    action: str
    annotator_id: UUID | None
    details: Mapping[str, str]
