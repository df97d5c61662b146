"""The tables of the schema `bots`."""

from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, DateTime, ForeignKey, Index, LargeBinary, String, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from spotthebot.kit.database import schema_metadata
from spotthebot.kit.migrations import Lineage
from spotthebot.kit.web.database.tables import idempotency_table


class _Base(DeclarativeBase):
    metadata = schema_metadata("bots")


class BotRow(_Base):
    """A bot; a null team stands for the operator. Its versions hold the protocols."""

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


class BotVersionRow(_Base):
    """A version of a bot; never updated, except for its secret, which decides no reply."""

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


class ProbeRow(_Base):
    """A probe that was made; only the latest hundred of a bot are kept."""

    __tablename__ = "probes"
    __table_args__ = (Index("ix_probes_bot_id_id", "bot_id", "id"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    bot_id: Mapped[UUID] = mapped_column(ForeignKey(BotRow.id))
    version: Mapped[int]
    trigger: Mapped[str] = mapped_column(String(20))
    started_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    report: Mapped[dict[str, Any]] = mapped_column(JSONB)


class HostedModelRow(_Base):
    """A model that the suite hosts; its files are in the models folder. The one change under way holds a lease."""

    __tablename__ = "hosted_models"
    __table_args__ = (UniqueConstraint("name"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(63))
    backend: Mapped[str] = mapped_column(String(20))
    directory: Mapped[str | None] = mapped_column(String(500))
    max_batch_size: Mapped[int]
    max_queue_delay_ms: Mapped[float]
    device: Mapped[str] = mapped_column(String(20))
    dtype: Mapped[str] = mapped_column(String(20))
    files_sha256: Mapped[str | None] = mapped_column(String(64))
    lease_id: Mapped[UUID | None]
    leased_until: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class HostedModelFileRow(_Base):
    """A file of a hosted model on the disk."""

    __tablename__ = "hosted_model_files"

    model_id: Mapped[UUID] = mapped_column(ForeignKey(HostedModelRow.id, ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(String(200), primary_key=True)
    bytes: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str] = mapped_column(String(64))


IDEMPOTENCY = idempotency_table(_Base.metadata, early_claims=True)
LINEAGE = Lineage("bots", _Base.metadata, Path(__file__).parent / "migrations")
