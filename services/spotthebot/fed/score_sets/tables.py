"""The tables of score jobs, of the scores that they store, and of the conversations that they reject."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ARRAY, DateTime, Float, ForeignKey, Index, LargeBinary, String, UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.fed.metadata import Base
from spotthebot.kit.step_jobs.tables import step_job_tables

STEP_JOBS = step_job_tables(Base.metadata)
"""The tables of score jobs; the subject of a job is a collection."""
_JOB_ID = STEP_JOBS.jobs.c.id


class ContextScoreRow(Base):
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


class RejectedRow(Base):
    """A conversation that could not be scored."""

    __tablename__ = "rejected_conversations"

    job_id: Mapped[UUID] = mapped_column(ForeignKey(_JOB_ID, ondelete="CASCADE"), primary_key=True)
    conversation_id: Mapped[UUID] = mapped_column(primary_key=True)
    reason: Mapped[str] = mapped_column(String(1000))
