"""The table of the verdicts that were given."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import DateTime, Float, String, Text, func
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.analytics.metadata import Base


class GivenVerdictRow(Base):
    """The first verdict on a pair of a campaign's bots under a margin; 0 is no margin. Rows never change.

    `n`, `low` and `high` are the decided games and the bounds when it was given. Bots are in the order of their names.
    """

    __tablename__ = "given_verdicts"

    campaign_id: Mapped[UUID] = mapped_column(primary_key=True)
    margin: Mapped[float] = mapped_column(Float(53), primary_key=True)
    bot: Mapped[str] = mapped_column(Text, primary_key=True)
    other: Mapped[str] = mapped_column(Text, primary_key=True)
    verdict: Mapped[str] = mapped_column(String(20))
    n: Mapped[int]
    low: Mapped[float] = mapped_column(Float(53))
    high: Mapped[float] = mapped_column(Float(53))
    given_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
