"""The tables of answers, gold items, and the annotations that answers become."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, DateTime, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.annotation.annotators.tables import AnnotatorRow
from spotthebot.annotation.campaigns.tables import CampaignRow
from spotthebot.annotation.leases.tables import AssignmentRow
from spotthebot.annotation.metadata import Base
from spotthebot.annotation.packages.tables import ItemRow


class GoldItemRow(Base):
    """The first `turns` turns of a gold dialogue at a position of an assignment. No annotator gets a dialogue twice.

    If exchanges open one by one, the first `opening` turns come with the first exchange. `mistakes` and `is_right` are
    null until the package is submitted.
    """

    __tablename__ = "gold_items"
    __table_args__ = (UniqueConstraint("annotator_id", "dialogue"),)

    assignment_id: Mapped[UUID] = mapped_column(ForeignKey(AssignmentRow.id), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    annotator_id: Mapped[UUID] = mapped_column(ForeignKey(AnnotatorRow.id))
    dialogue: Mapped[int]
    turns: Mapped[int]
    opening: Mapped[int] = mapped_column(server_default="0")
    mistakes: Mapped[int | None]
    is_right: Mapped[bool | None]


class AnswerRow(Base):
    """The draft of an answer to an item.

    `step` is the last step shown; `opened_at` has a time for each open exchange.
    """

    __tablename__ = "answers"

    assignment_id: Mapped[UUID] = mapped_column(ForeignKey(AssignmentRow.id), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    answer: Mapped[dict[str, Any]] = mapped_column(JSONB)
    step: Mapped[int]
    version: Mapped[int]
    served_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    first_saved_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    saved_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    active_ms: Mapped[int] = mapped_column(BigInteger, server_default="0")
    reported_ms: Mapped[int | None] = mapped_column(BigInteger)
    opened_at: Mapped[list[datetime]] = mapped_column(ARRAY(DateTime(timezone=True)), server_default="{}")
    decisions: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default="[]")


class AnswerRevisionRow(Base):
    """An earlier version of a draft."""

    __tablename__ = "answer_revisions"

    assignment_id: Mapped[UUID] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    answer: Mapped[dict[str, Any]] = mapped_column(JSONB)
    step: Mapped[int]
    saved_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class AnnotationRow(Base):
    """A submitted or imported answer. An imported answer has an external id and no assignment.

    `question_order` has the ids of the questions as the annotator was asked, if that order was drawn; else it is empty.
    `judge_labels` has the probabilities and missing answers of a judge.
    """

    __tablename__ = "annotations"
    __table_args__ = (
        UniqueConstraint("assignment_id", "item_id"),
        UniqueConstraint("campaign_id", "external_id"),
        Index(None, "campaign_id", "id"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey(CampaignRow.id))
    item_id: Mapped[UUID] = mapped_column(ForeignKey(ItemRow.id), index=True)
    assignment_id: Mapped[UUID | None] = mapped_column(ForeignKey(AssignmentRow.id))
    external_id: Mapped[str | None] = mapped_column(String(200))
    annotator_id: Mapped[UUID] = mapped_column(ForeignKey(AnnotatorRow.id), index=True)
    answer: Mapped[dict[str, Any]] = mapped_column(JSONB)
    judge_labels: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    started_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    ended_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    elapsed_ms: Mapped[int | None] = mapped_column(BigInteger)
    reported_ms: Mapped[int | None] = mapped_column(BigInteger)
    completion_code: Mapped[str | None] = mapped_column(String(100))
    decisions: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default="[]")
    question_order: Mapped[list[str]] = mapped_column(ARRAY(String(50)), server_default="{}")
