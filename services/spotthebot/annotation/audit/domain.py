"""Entries of the audit log."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True)
class AuditEntry:
    """A decision that touches a person, a label or a campaign: which key took it, when, and what is known of it."""

    id: UUID
    at: datetime
    key_id: UUID
    action: str
    annotator_id: UUID | None
    details: Mapping[str, str]
