"""The tables of attempts at trainings, and of the answers in them."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import DateTime, ForeignKey, ForeignKeyConstraint, String
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.annotation.annotators.tables import AnnotatorRow
from spotthebot.annotation.metadata import Base


class TrainingAttemptRow(Base):
    """An annotator's attempt at the training of their campaign, numbered from 1."""

    __tablename__ = "training_attempts"

    annotator_id: Mapped[UUID] = mapped_column(ForeignKey(AnnotatorRow.id), primary_key=True)
    attempt: Mapped[int] = mapped_column(primary_key=True)
    state: Mapped[str] = mapped_column(String(20))
    started_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    ended_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class TrainingAnswerRow(Base):
    """An annotator's answer to a dialogue of the training; rows are only ever added."""

    __tablename__ = "training_answers"
    __table_args__ = (
        ForeignKeyConstraint(
            ["annotator_id", "attempt"], [TrainingAttemptRow.annotator_id, TrainingAttemptRow.attempt]
        ),
    )

    annotator_id: Mapped[UUID] = mapped_column(primary_key=True)
    attempt: Mapped[int] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    answer: Mapped[dict[str, Any]] = mapped_column(JSONB)
    mistakes: Mapped[int]
    answered_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
