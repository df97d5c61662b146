"""The table of kept results."""

from datetime import datetime
from pathlib import Path
from uuid import UUID

from sqlalchemy import DateTime, Index, LargeBinary, String, func, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from spotthebot.analytics.metadata import Base
from spotthebot.kit.database.sessions import schema_metadata
from spotthebot.kit.migrations.lineage import Lineage
from spotthebot.kit.step_jobs.tables import step_job_tables
from spotthebot.kit.web.database.tables import idempotency_table


class ResultRow(Base):
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
