"""The tables of the schema `analytics`."""

from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import DateTime, ForeignKey, Index, LargeBinary, String, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from spotthebot.kit.database import schema_metadata
from spotthebot.kit.migrations import Lineage
from spotthebot.kit.web.database.idempotency import idempotency_table


class _Base(DeclarativeBase):
    metadata = schema_metadata("analytics")


class ResultRow(_Base):
    """An answer as it was sent; `key` is a hash of all that it depends on."""

    __tablename__ = "results"
    __table_args__ = (Index(None, "campaign_id", "revision"),)

    key: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    campaign_id: Mapped[UUID]
    revision: Mapped[str] = mapped_column(String(200))
    body: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class AnalysisRow(_Base):
    """An analysis that takes its time: what was asked, how far it is, and its result."""

    __tablename__ = "analyses"
    __table_args__ = (Index(None, "campaign_id", "kind", "id"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(20))
    campaign_id: Mapped[UUID | None]
    request: Mapped[dict[str, Any]] = mapped_column(JSONB)
    state: Mapped[str] = mapped_column(String(20))
    failure: Mapped[str | None] = mapped_column(String(1000))
    steps: Mapped[int]
    counts: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    data_sha256: Mapped[str | None] = mapped_column(String(64))
    version: Mapped[str] = mapped_column(String(50))
    result: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    finished_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class AnalysisStepRow(_Base):
    """What one step of an analysis found, so that an interrupted one goes on."""

    __tablename__ = "analysis_steps"

    analysis_id: Mapped[UUID] = mapped_column(ForeignKey(AnalysisRow.id, ondelete="CASCADE"), primary_key=True)
    step: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    result: Mapped[dict[str, Any]] = mapped_column(JSONB)


IDEMPOTENCY = idempotency_table(_Base.metadata)
LINEAGE = Lineage("analytics", _Base.metadata, Path(__file__).parent / "migrations")
