"""The tables of bots and their versions."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import DateTime, ForeignKey, Index, LargeBinary, String, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.bots.metadata import Base


class BotRow(Base):
    """A bot. Its team is null if it belongs to the operator. Its versions hold the protocols."""

    __tablename__ = "bots"
    __table_args__ = (
        UniqueConstraint("team", "name", postgresql_nulls_not_distinct=True),
        Index("ix_bots_next_probe_at", "next_probe_at", postgresql_where=text("next_probe_at IS NOT NULL")),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    team: Mapped[str | None] = mapped_column(String(100))
    description: Mapped[str] = mapped_column(String(2000))
    domains: Mapped[list[str]] = mapped_column(ARRAY(String(50)))
    limits: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")
    public: Mapped[bool] = mapped_column(server_default="false")
    status: Mapped[str] = mapped_column(String(20), server_default="active")
    status_reason: Mapped[str | None] = mapped_column(String(1000))
    version: Mapped[int] = mapped_column(server_default="1")
    probe: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    failed_probes: Mapped[int] = mapped_column(server_default="0")
    next_probe_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    paused_until: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class BotVersionRow(Base):
    """A version of a bot; never updated, except for its secret, which does not affect replies."""

    __tablename__ = "bot_versions"
    __table_args__ = (UniqueConstraint("bot_id", "number"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    bot_id: Mapped[UUID] = mapped_column(ForeignKey(BotRow.id))
    number: Mapped[int]
    protocol: Mapped[dict[str, Any]] = mapped_column(JSONB)
    sealed_secret: Mapped[bytes | None] = mapped_column(LargeBinary)
    training_sha256: Mapped[str | None] = mapped_column(String(64))
    files_sha256: Mapped[str | None] = mapped_column(String(64))
    configuration_sha256: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
