"""The tables of entry links, and of the annotators who entered by them."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import DateTime, ForeignKey, Index, String, UniqueConstraint, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.annotation.annotators.tables import AnnotatorRow
from spotthebot.annotation.campaigns.tables import CampaignRow
from spotthebot.annotation.metadata import Base


class EntryLinkRow(Base):
    """A signed link into a campaign; `annotators` counts the people who entered by it."""

    __tablename__ = "entry_links"
    __table_args__ = (Index(None, "campaign_id", "id"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey(CampaignRow.id))
    frontend: Mapped[str | None] = mapped_column(String(200))
    annotator: Mapped[str | None] = mapped_column(String(200))
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    max_annotators: Mapped[int | None]
    signed_ids: Mapped[bool] = mapped_column(server_default="false")
    annotators: Mapped[int] = mapped_column(server_default="0")
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    revoked_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class EntryRow(Base):
    """An annotator who entered by a link, with the panel's parameters in the URL; a reload adds no row."""

    __tablename__ = "entries"
    __table_args__ = (UniqueConstraint("annotator_id", "link_id", "parameters"), Index(None, "link_id"))

    id: Mapped[UUID] = mapped_column(primary_key=True)
    annotator_id: Mapped[UUID] = mapped_column(ForeignKey(AnnotatorRow.id))
    link_id: Mapped[UUID] = mapped_column(ForeignKey(EntryLinkRow.id))
    parameters: Mapped[dict[str, Any]] = mapped_column(JSONB)
    entered_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
