"""The tables of the schema `fed`."""

from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, DateTime, Float, ForeignKey, Index, Integer, LargeBinary, String, UniqueConstraint, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from spotthebot.kit.database.sessions import schema_metadata
from spotthebot.kit.events.tables import event_tables
from spotthebot.kit.migrations.lineage import Lineage
from spotthebot.kit.step_jobs.tables import step_job_tables
from spotthebot.kit.web.database.tables import idempotency_table


class _Base(DeclarativeBase):
    metadata = schema_metadata("fed")


STEP_JOBS = step_job_tables(_Base.metadata)
"""The tables of score jobs; the subject of a job is a collection."""
_JOB_ID = STEP_JOBS.jobs.c.id


class DimensionSetRow(_Base):
    """A version of a user's dimension set; it never changes."""

    __tablename__ = "dimension_sets"
    __table_args__ = (UniqueConstraint("name", "version"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    version: Mapped[int]
    dimensions: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class LikelihoodRow(_Base):
    """A model's likelihoods for a context, in the order of the follow-ups.

    `key` is a hash of model, options and context.
    """

    __tablename__ = "likelihoods"
    __table_args__ = (Index(None, "last_used_at"),)

    key: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    turns_left_out: Mapped[int]
    context_nll: Mapped[float | None] = mapped_column(Float(53))
    predicted_tokens: Mapped[int]
    nlls: Mapped[list[float]] = mapped_column(ARRAY(Float(53)))
    tokens: Mapped[list[int]] = mapped_column(ARRAY(Integer))
    last_used_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    """The time of the last use, with a resolution of a day."""


class ContextScoreRow(_Base):
    """The scores of a context, in the order of the job's dimensions."""

    __tablename__ = "context_scores"
    __table_args__ = (UniqueConstraint("job_id", "conversation_id", "turn"), Index(None, "job_id", "id"))

    id: Mapped[UUID] = mapped_column(primary_key=True)
    job_id: Mapped[UUID] = mapped_column(ForeignKey(_JOB_ID, ondelete="CASCADE"))
    conversation_id: Mapped[UUID]
    turn: Mapped[int]
    bot: Mapped[str] = mapped_column(String(100))
    text_hash: Mapped[bytes | None] = mapped_column(LargeBinary)
    """The hash of the whole conversation, equal for the same words; null if it has none."""
    length: Mapped[int]
    turns_left_out: Mapped[int]
    scores: Mapped[list[float]] = mapped_column(ARRAY(Float(53)))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class RejectedRow(_Base):
    """A conversation that could not be scored."""

    __tablename__ = "rejected_conversations"

    job_id: Mapped[UUID] = mapped_column(ForeignKey(_JOB_ID, ondelete="CASCADE"), primary_key=True)
    conversation_id: Mapped[UUID] = mapped_column(primary_key=True)
    reason: Mapped[str] = mapped_column(String(1000))


EVENT_TABLES = event_tables(_Base.metadata)
IDEMPOTENCY = idempotency_table(_Base.metadata)
LINEAGE = Lineage("fed", _Base.metadata, Path(__file__).parent / "migrations")
