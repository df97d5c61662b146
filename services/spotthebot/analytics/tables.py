"""The tables of the schema `analytics`."""

from datetime import datetime
from pathlib import Path
from uuid import UUID

from sqlalchemy import DateTime, Index, LargeBinary, String, func, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from spotthebot.kit.database.sessions import schema_metadata
from spotthebot.kit.migrations import Lineage
from spotthebot.kit.step_jobs.tables import step_job_tables
from spotthebot.kit.web.database.tables import idempotency_table


class _Base(DeclarativeBase):
    metadata = schema_metadata("analytics")


class ResultRow(_Base):
    """A result as it was sent; `key` is a hash of everything that it depends on."""

    __tablename__ = "results"
    __table_args__ = (Index(None, "campaign_id", "revision"),)

    key: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    campaign_id: Mapped[UUID]
    revision: Mapped[str] = mapped_column(String(200))
    body: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class PseudonymKeyRow(_Base):
    """The key that makes the pseudonyms of a campaign's bots in what teams see; it leaves this table for no answer."""

    __tablename__ = "pseudonym_keys"

    campaign_id: Mapped[UUID] = mapped_column(primary_key=True)
    key: Mapped[bytes] = mapped_column(
        LargeBinary, server_default=text("(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))")
    )


STEP_JOBS = step_job_tables(_Base.metadata)
"""Analyses that run as jobs: their subject is a campaign, their inputs are its counts."""
IDEMPOTENCY = idempotency_table(_Base.metadata)
LINEAGE = Lineage("analytics", _Base.metadata, Path(__file__).parent / "migrations")
