"""The tables of the schema `annotation`."""

from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    DateTime,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    String,
    Text,
    UniqueConstraint,
    func,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from spotthebot.kit.database import schema_metadata
from spotthebot.kit.migrations import Lineage
from spotthebot.kit.web.database.tables import idempotency_table


class _Base(DeclarativeBase):
    metadata = schema_metadata("annotation")


class ProtocolRow(_Base):
    """A version of a protocol, which never changes; those that are built in stand in the code."""

    __tablename__ = "protocols"
    __table_args__ = (UniqueConstraint("name", "version"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(50))
    version: Mapped[int]
    document: Mapped[dict[str, Any]] = mapped_column(JSONB)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class CampaignRow(_Base):
    """A campaign; `built_at` is when its packages were there, `closed_at` when an administrator closed it.

    `secret` decides with the seed how its conversations are packed, and leaves this table for no answer.
    """

    __tablename__ = "campaigns"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    domain: Mapped[str] = mapped_column(String(50))
    collection_id: Mapped[UUID]
    mode: Mapped[str] = mapped_column(String(20))
    segments: Mapped[list[int]] = mapped_column(ARRAY(Integer))
    annotations_per_segment: Mapped[int]
    package_size: Mapped[int]
    instructions: Mapped[str] = mapped_column(Text)
    seed: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    state: Mapped[str] = mapped_column(String(20))
    built_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    closed_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    failure: Mapped[str | None] = mapped_column(Text)
    secret: Mapped[bytes | None] = mapped_column(LargeBinary)
    too_short: Mapped[int | None]


class ShownConversationRow(_Base):
    """The texts of a conversation by sides A and B; nothing says who speaks."""

    __tablename__ = "shown_conversations"
    __table_args__ = (UniqueConstraint("campaign_id", "external_id"),)

    campaign_id: Mapped[UUID] = mapped_column(ForeignKey(CampaignRow.id), primary_key=True)
    conversation_id: Mapped[UUID] = mapped_column(primary_key=True)
    external_id: Mapped[str | None] = mapped_column(String(200))
    opening: Mapped[list[dict[str, str]]] = mapped_column(JSONB)
    turns: Mapped[list[dict[str, str]]] = mapped_column(JSONB)


class PackageRow(_Base):
    """Segments that one annotator labels in one sitting; packages of one `block` show the same conversations."""

    __tablename__ = "packages"
    __table_args__ = (UniqueConstraint("campaign_id", "external_id"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey(CampaignRow.id), index=True)
    external_id: Mapped[str | None] = mapped_column(String(200))
    block: Mapped[int | None]


class SegmentRow(_Base):
    """The first `exchanges` exchanges of a conversation, in the one package that shows them."""

    __tablename__ = "segments"
    __table_args__ = (
        UniqueConstraint("campaign_id", "conversation_id", "exchanges"),
        ForeignKeyConstraint(
            ["campaign_id", "conversation_id"],
            [ShownConversationRow.campaign_id, ShownConversationRow.conversation_id],
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    campaign_id: Mapped[UUID]
    package_id: Mapped[UUID] = mapped_column(ForeignKey(PackageRow.id), index=True)
    conversation_id: Mapped[UUID]
    exchanges: Mapped[int]
    position: Mapped[int]


class AssignmentRow(_Base):
    """A package in the hands of an annotator."""

    __tablename__ = "assignments"
    __table_args__ = (
        UniqueConstraint("package_id", "annotator"),
        Index(None, "campaign_id", "annotator"),
        Index(None, "campaign_id", "state"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey(CampaignRow.id))
    package_id: Mapped[UUID] = mapped_column(ForeignKey(PackageRow.id))
    annotator: Mapped[str] = mapped_column(String(200))
    state: Mapped[str] = mapped_column(String(20))
    claimed_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    completed_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    completion_code: Mapped[str | None] = mapped_column(String(100))


class AnnotationRow(_Base):
    """An annotation of a segment; an imported one has an external id and no assignment."""

    __tablename__ = "annotations"
    __table_args__ = (
        UniqueConstraint("assignment_id", "segment_id"),
        UniqueConstraint("campaign_id", "external_id"),
        Index(None, "campaign_id", "id"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey(CampaignRow.id))
    segment_id: Mapped[UUID] = mapped_column(ForeignKey(SegmentRow.id), index=True)
    assignment_id: Mapped[UUID | None] = mapped_column(ForeignKey(AssignmentRow.id))
    external_id: Mapped[str | None] = mapped_column(String(200))
    annotator: Mapped[str] = mapped_column(String(200))
    label_a: Mapped[str] = mapped_column(String(10))
    label_b: Mapped[str] = mapped_column(String(10))
    fluency: Mapped[str] = mapped_column(String(10))
    sensibleness: Mapped[str] = mapped_column(String(10))
    specificity: Mapped[str] = mapped_column(String(10))
    started_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    ended_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    elapsed_ms: Mapped[int | None] = mapped_column(BigInteger)
    completion_code: Mapped[str | None] = mapped_column(String(100))


IDEMPOTENCY = idempotency_table(_Base.metadata)
LINEAGE = Lineage("annotation", _Base.metadata, Path(__file__).parent / "migrations")
