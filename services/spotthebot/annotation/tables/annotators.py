"""Annotators: how they came, what they learned, what they get and what they have seen."""

from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import (
    CheckConstraint,
    DateTime,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Numeric,
    String,
    Text,
    UniqueConstraint,
    func,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.annotation.tables.campaigns import CampaignRow
from spotthebot.annotation.tables.metadata import Base


class AnnotatorRow(Base):
    """A person, or a program, who annotates in a campaign through a frontend.

    Who came with an import has no frontend: ''.
    """

    __tablename__ = "annotators"
    __table_args__ = (UniqueConstraint("campaign_id", "external_id", "frontend"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey(CampaignRow.id))
    frontend: Mapped[str] = mapped_column(String(200), server_default="")
    external_id: Mapped[str] = mapped_column(String(200))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    blocked_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    blocked_reason: Mapped[str | None] = mapped_column(Text)
    appeal: Mapped[str | None] = mapped_column(Text)
    appealed_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    erased_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    consent_sha256: Mapped[str | None] = mapped_column(String(64))
    consented_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    consent_withdrawn_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    granted_attempts: Mapped[int] = mapped_column(server_default="0")
    gold_right: Mapped[int] = mapped_column(server_default="0")
    gold_wrong: Mapped[int] = mapped_column(server_default="0")
    fast_items: Mapped[int] = mapped_column(server_default="0")
    fast_packages: Mapped[int] = mapped_column(server_default="0")
    strikes: Mapped[int] = mapped_column(server_default="0")


class EntryLinkRow(Base):
    """A signed way into a campaign; `annotators` counts who entered by it."""

    __tablename__ = "entry_links"
    __table_args__ = (Index(None, "campaign_id", "id"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey(CampaignRow.id))
    frontend: Mapped[str | None] = mapped_column(String(200))
    annotator: Mapped[str | None] = mapped_column(String(200))
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    max_annotators: Mapped[int | None]
    signed_ids: Mapped[bool] = mapped_column(server_default="false")
    annotators: Mapped[int] = mapped_column(server_default="0")
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    revoked_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class EntryRow(Base):
    """An annotator who entered by a link, with the panel's parameters of the URL; a reload adds nothing."""

    __tablename__ = "entries"
    __table_args__ = (UniqueConstraint("annotator_id", "link_id", "parameters"), Index(None, "link_id"))

    id: Mapped[UUID] = mapped_column(primary_key=True)
    annotator_id: Mapped[UUID] = mapped_column(ForeignKey(AnnotatorRow.id))
    link_id: Mapped[UUID] = mapped_column(ForeignKey(EntryLinkRow.id))
    parameters: Mapped[dict[str, Any]] = mapped_column(JSONB)
    entered_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


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


class BonusRow(Base):
    """What an annotator gets beside the pay, in the campaign's currency."""

    __tablename__ = "bonuses"
    __table_args__ = (Index(None, "campaign_id", "id"), CheckConstraint("amount > 0", name="amount_positive"))

    id: Mapped[UUID] = mapped_column(primary_key=True)
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey(CampaignRow.id))
    annotator_id: Mapped[UUID] = mapped_column(ForeignKey(AnnotatorRow.id), index=True)
    amount: Mapped[Decimal] = mapped_column(Numeric(9, 2))
    reason: Mapped[str] = mapped_column(Text)
    key_id: Mapped[UUID]
    granted_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class SeenConversationRow(Base):
    """A conversation that an annotator was shown or chatted in; the key refuses that it is shown after that."""

    __tablename__ = "seen_conversations"

    annotator_id: Mapped[UUID] = mapped_column(ForeignKey(AnnotatorRow.id), primary_key=True)
    conversation_id: Mapped[UUID] = mapped_column(primary_key=True)
