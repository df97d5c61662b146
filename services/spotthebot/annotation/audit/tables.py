"""The audit log as a table."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import DateTime, Index, String, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.annotation.metadata import Base


class AuditRow(Base):
    """A decision that affects a person, a label or a campaign.

    Rows are only ever added, and stay when the campaign is deleted. Only an erasure may change a row: it replaces the
    words of an erased person.
    """

    __tablename__ = "audit_log"
    __table_args__ = (Index(None, "campaign_id", "id"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    campaign_id: Mapped[UUID]
    key_id: Mapped[UUID]
    action: Mapped[str] = mapped_column(String(50))
    annotator_id: Mapped[UUID | None]
    details: Mapped[dict[str, Any]] = mapped_column(JSONB)
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
