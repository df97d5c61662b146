"""The table of the verdicts that were reported."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import DateTime, ForeignKey, String, func
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.annotation.campaigns.tables import CampaignRow
from spotthebot.annotation.metadata import Base


class ReportedVerdictRow(Base):
    """The first verdict on a pair of a campaign's bots that was reported. Rows never change."""

    __tablename__ = "reported_verdicts"

    campaign_id: Mapped[UUID] = mapped_column(ForeignKey(CampaignRow.id), primary_key=True)
    bot: Mapped[str] = mapped_column(String(100), primary_key=True)
    other: Mapped[str] = mapped_column(String(100), primary_key=True)
    verdict: Mapped[str] = mapped_column(String(20))
    reported_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
