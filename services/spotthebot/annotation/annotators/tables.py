"""The tables of annotators, and of the conversations that they have seen."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import DateTime, ForeignKey, String, Text, UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.annotation.campaigns.tables import CampaignRow
from spotthebot.annotation.judges.tables import JudgeRow
from spotthebot.annotation.metadata import Base


class AnnotatorRow(Base):
    """A person, or a program, who annotates in a campaign through a frontend.

    The frontend of an imported annotator is ''. `judge_id` is the version of a judge; imported judges have none.
    """

    __tablename__ = "annotators"
    __table_args__ = (UniqueConstraint("campaign_id", "external_id", "frontend"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey(CampaignRow.id))
    frontend: Mapped[str] = mapped_column(String(200), server_default="")
    external_id: Mapped[str] = mapped_column(String(200))
    kind: Mapped[str] = mapped_column(String(20), server_default="person")
    judge_id: Mapped[UUID | None] = mapped_column(ForeignKey(JudgeRow.id))
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


class SeenConversationRow(Base):
    """A conversation that an annotator was shown or chatted in.

    The primary key prevents that an annotator is shown a conversation twice.
    """

    __tablename__ = "seen_conversations"

    annotator_id: Mapped[UUID] = mapped_column(ForeignKey(AnnotatorRow.id), primary_key=True)
    conversation_id: Mapped[UUID] = mapped_column(primary_key=True)
