"""The tables of the schema `analytics`."""

from datetime import datetime
from pathlib import Path
from uuid import UUID

from sqlalchemy import DateTime, Index, LargeBinary, String, func, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from spotthebot.kit.database.sessions import schema_metadata
from spotthebot.kit.migrations.lineage import Lineage
from spotthebot.kit.step_jobs.tables import step_job_tables
from spotthebot.kit.web.database.tables import idempotency_table


class _Base(DeclarativeBase):
    metadata = schema_metadata("analytics")


class ResultRow(_Base):
    """A cached result, as bytes that were sent. `key` is a hash of everything that the result depends on.

    `subject_id` is the id of the campaign or of the study whose result it is.
    """

    __tablename__ = "results"
    __table_args__ = (Index(None, "subject_id", "revision"),)

    key: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    subject_id: Mapped[UUID]
    revision: Mapped[str] = mapped_column(String(200))
    body: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class PseudonymKeyRow(_Base):
    """The key for the pseudonyms of a campaign's bots in standings. It is never sent to anybody."""

    __tablename__ = "pseudonym_keys"

    campaign_id: Mapped[UUID] = mapped_column(primary_key=True)
    key: Mapped[bytes] = mapped_column(
        LargeBinary, server_default=text("(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))")
    )


STEP_JOBS = step_job_tables(_Base.metadata)
"""The tables of analyses that run as jobs. The subject of a job is a campaign; its inputs are the campaign's counts."""
IDEMPOTENCY = idempotency_table(_Base.metadata)
LINEAGE = Lineage("analytics", _Base.metadata, Path(__file__).parent / "migrations")
