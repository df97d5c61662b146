"""The tables of the schema `bots`."""

from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import DateTime, String, UniqueConstraint, func
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from spotthebot.kit.database import schema_metadata
from spotthebot.kit.migrations import Lineage
from spotthebot.kit.web.idempotency import idempotency_table


class _Base(DeclarativeBase):
    metadata = schema_metadata("bots")


class BotRow(_Base):
    """A bot; a null team is the operator's own."""

    __tablename__ = "bots"
    __table_args__ = (UniqueConstraint("team", "name", postgresql_nulls_not_distinct=True),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    team: Mapped[str | None] = mapped_column(String(100))
    description: Mapped[str] = mapped_column(String(2000))
    domains: Mapped[list[str]] = mapped_column(ARRAY(String(50)))
    protocol: Mapped[dict[str, Any]] = mapped_column(JSONB)
    training_sha256: Mapped[str | None] = mapped_column(String(64))
    configuration_sha256: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


IDEMPOTENCY = idempotency_table(_Base.metadata)
LINEAGE = Lineage("bots", _Base.metadata, Path(__file__).parent / "migrations")
