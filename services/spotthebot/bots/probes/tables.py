"""The table of probes."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import DateTime, ForeignKey, Index, String
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.bots.bots.tables import BotRow
from spotthebot.bots.metadata import Base


class ProbeRow(Base):
    """A completed probe; the latest hundred probes of each bot are kept."""

    __tablename__ = "probes"
    __table_args__ = (Index("ix_probes_bot_id_id", "bot_id", "id"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    bot_id: Mapped[UUID] = mapped_column(ForeignKey(BotRow.id))
    version: Mapped[int]
    trigger: Mapped[str] = mapped_column(String(20))
    started_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    report: Mapped[dict[str, Any]] = mapped_column(JSONB)
