"""The audit log of the service `annotation`: its kinds of decisions, and the fields of each entry."""

from datetime import datetime
from typing import Final, Literal, get_args
from uuid import UUID

from pydantic import Field

from spotthebot.contracts.wire import Wire

AuditedAction = Literal[
    "annotator.blocked",
    "annotator.unblocked",
    "annotator.appealed",
    "annotator.bonus_granted",
    "annotator.consent_withdrawn",
    "entry_link.revoked",
    "annotator.consented_again",
    "annotator.erased",
    "annotator.texts_erased",
    "annotations.exported",
    "assignment.rejected",
    "campaign.changed",
    "campaign.deleted",
    "results.published",
    "results.released",
    "results.withdrawn",
    "training.passed",
    "training.failed",
    "training.attempt_granted",
]
"""A decision that the audit log holds."""
AUDITED: Final[tuple[AuditedAction, ...]] = get_args(AuditedAction)


class AuditEntryOut(Wire):
    """A decision that touches a person, a label or a campaign: who took it, when and why."""

    id: UUID
    at: datetime
    key_id: UUID
    action: str
    annotator_id: UUID | None
    details: dict[str, str] = Field(max_length=50)
