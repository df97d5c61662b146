"""The tables of studies and of their campaigns."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import DateTime, ForeignKey, String, Text, Uuid, func
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.annotation.campaigns.tables import CampaignRow
from spotthebot.annotation.metadata import Base


class StudyRow(Base):
    """A study.

    `chats` are the ids of its collections of chats, which are in the service `conversations`, and `scores` those of its
    score sets, which are in the service `fed`.
    """

    __tablename__ = "studies"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100), unique=True)
    chats: Mapped[list[UUID]] = mapped_column(ARRAY(Uuid))
    outcome: Mapped[str | None] = mapped_column(Text)
    seed: Mapped[int]
    scores: Mapped[list[UUID]] = mapped_column(ARRAY(Uuid))
    latency: Mapped[bool]
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class StudyCampaignRow(Base):
    """A campaign of a study, at its position in the request; a deleted campaign leaves its studies."""

    __tablename__ = "study_campaigns"

    study_id: Mapped[UUID] = mapped_column(ForeignKey(StudyRow.id, ondelete="CASCADE"), primary_key=True)
    campaign_id: Mapped[UUID] = mapped_column(
        ForeignKey(CampaignRow.id, ondelete="CASCADE"), primary_key=True, index=True
    )
    position: Mapped[int]
