"""The table of bonuses."""

from datetime import datetime
from decimal import Decimal
from uuid import UUID

from sqlalchemy import CheckConstraint, DateTime, ForeignKey, Index, Numeric, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.annotation.annotators.tables import AnnotatorRow
from spotthebot.annotation.campaigns.tables import CampaignRow
from spotthebot.annotation.metadata import Base


class BonusRow(Base):
    """An amount in addition to an annotator's pay, in the campaign's currency."""

    __tablename__ = "bonuses"
    __table_args__ = (
        Index(None, "campaign_id", "id"),
        UniqueConstraint("annotator_id", "occasion"),
        CheckConstraint("amount > 0", name="amount_positive"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey(CampaignRow.id))
    annotator_id: Mapped[UUID] = mapped_column(ForeignKey(AnnotatorRow.id))
    amount: Mapped[Decimal] = mapped_column(Numeric(9, 2))
    reason: Mapped[str] = mapped_column(Text)
    key_id: Mapped[UUID]
    granted_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    occasion: Mapped[str | None] = mapped_column(Text)
