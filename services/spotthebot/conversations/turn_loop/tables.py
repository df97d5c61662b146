"""The tables of concurrency slots and unavailable bots."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, DateTime, Index, String, false, func
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.conversations.metadata import Base


class ConcurrencySlotRow(Base):
    """Slots that a job occupies at a bot; they keep the bot's concurrency over all processes.

    The table is unlogged: after a crash of PostgreSQL no request remains that could occupy a slot.
    """

    __tablename__ = "concurrency_slots"
    __table_args__ = (Index(None, "bot_id"), {"prefixes": ["UNLOGGED"]})

    id: Mapped[UUID] = mapped_column(primary_key=True)
    bot_id: Mapped[UUID]
    job_id: Mapped[int] = mapped_column(BigInteger)
    slots: Mapped[int]
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    queued: Mapped[bool] = mapped_column(server_default=false())
    """Whether a chat queues for this slot, ahead of the runners."""


class UnavailableBotRow(Base):
    """A bot that gets no requests until it recovers; its conversations wait."""

    __tablename__ = "unavailable_bots"

    bot_id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    reason: Mapped[str] = mapped_column(String(1000))
    since: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
