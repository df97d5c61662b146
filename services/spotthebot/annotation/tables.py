"""The tables of the schema `annotation`."""

from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    DateTime,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    Numeric,
    String,
    Text,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from spotthebot.kit.database import schema_metadata
from spotthebot.kit.events.tables import event_tables
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


class TrainingRow(_Base):
    """A version of a training, which never changes: dialogues with their right answers."""

    __tablename__ = "trainings"
    __table_args__ = (UniqueConstraint("name", "version"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(50))
    version: Mapped[int]
    document: Mapped[dict[str, Any]] = mapped_column(JSONB)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class CampaignRow(_Base):
    """A campaign, with counters of what it holds; `built_at` is when its packages were there, `closed_at` its end.

    `packages` and `items` count what was packed, `annotations` what annotators submitted or what was imported,
    `submitted` the assignments that were. `secret` decides with the seed how its conversations are packed, and
    `pseudonym_key` what exports call its annotators; both leave this table for no answer.
    """

    __tablename__ = "campaigns"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    domain: Mapped[str] = mapped_column(String(50))
    collection_id: Mapped[UUID]
    mode: Mapped[str] = mapped_column(String(20))
    protocol_name: Mapped[str] = mapped_column(String(100), server_default="spot_the_bot")
    protocol_version: Mapped[int] = mapped_column(server_default="1")
    segments: Mapped[list[int]] = mapped_column(ARRAY(Integer))
    annotations_per_segment: Mapped[int]
    package_size: Mapped[int]
    packages_per_annotator: Mapped[int | None]
    lease_seconds: Mapped[int] = mapped_column(server_default="3600")
    instructions: Mapped[str] = mapped_column(Text)
    consent: Mapped[str] = mapped_column(Text, server_default="")
    panel: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    training: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    seed: Mapped[int]
    pay_per_package: Mapped[Decimal | None] = mapped_column(Numeric(9, 2))
    currency: Mapped[str | None] = mapped_column(String(3))
    opens_when_built: Mapped[bool] = mapped_column(server_default="true")
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    state: Mapped[str] = mapped_column(String(20))
    built_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    closed_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    failure: Mapped[str | None] = mapped_column(Text)
    secret: Mapped[bytes | None] = mapped_column(LargeBinary)
    pseudonym_key: Mapped[bytes] = mapped_column(
        LargeBinary, server_default=text("(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))")
    )
    interactor_salt: Mapped[bytes | None] = mapped_column(LargeBinary)
    too_short: Mapped[int | None]
    unpaired: Mapped[int | None]
    packages: Mapped[int] = mapped_column(server_default="0")
    items: Mapped[int] = mapped_column(server_default="0")
    annotations: Mapped[int] = mapped_column(server_default="0")
    submitted: Mapped[int] = mapped_column(server_default="0")


class ShownConversationRow(_Base):
    """The texts of a conversation by sides A and B; nothing says who speaks.

    `interactor_sha256` is of the campaign's `interactor_salt` and the id of the person who chatted in it, or of random
    bytes: it tells whether a person who is known chatted here, and nothing else.
    """

    __tablename__ = "shown_conversations"
    __table_args__ = (
        UniqueConstraint("campaign_id", "external_id"),
        Index(None, "campaign_id", "interactor_sha256"),
    )

    campaign_id: Mapped[UUID] = mapped_column(ForeignKey(CampaignRow.id), primary_key=True)
    conversation_id: Mapped[UUID] = mapped_column(primary_key=True)
    external_id: Mapped[str | None] = mapped_column(String(200))
    opening: Mapped[list[dict[str, str]]] = mapped_column(JSONB)
    turns: Mapped[list[dict[str, str]]] = mapped_column(JSONB)
    interactor_sha256: Mapped[bytes | None] = mapped_column(LargeBinary)


class PackageRow(_Base):
    """Items that one annotator labels in one sitting; `slots_left` of its annotators are missing.

    Packages of one `block` show the same conversations.
    """

    __tablename__ = "packages"
    __table_args__ = (
        UniqueConstraint("campaign_id", "external_id"),
        Index("ix_packages_claimable", "campaign_id", "id", postgresql_where=text("slots_left > 0")),
        CheckConstraint("slots_left >= 0", name="slots_left_not_negative"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey(CampaignRow.id), index=True)
    external_id: Mapped[str | None] = mapped_column(String(200))
    block: Mapped[int | None]
    slots_left: Mapped[int] = mapped_column(server_default="0")


class ItemRow(_Base):
    """The first `exchanges` exchanges of a conversation, at a position of the one package that shows them.

    `speakers` names the side of each turn that is shown, the opening's among them: `ABABA`. Of a pair all this is about
    the conversation on the left.
    """

    __tablename__ = "items"
    __table_args__ = (
        UniqueConstraint("campaign_id", "conversation_id", "exchanges"),
        UniqueConstraint("package_id", "position"),
        ForeignKeyConstraint(
            ["campaign_id", "conversation_id"],
            [ShownConversationRow.campaign_id, ShownConversationRow.conversation_id],
        ),
        ForeignKeyConstraint(
            ["campaign_id", "right_conversation_id"],
            [ShownConversationRow.campaign_id, ShownConversationRow.conversation_id],
            name="right_conversation",
        ),
        Index(
            "ix_items_right_conversation",
            "campaign_id",
            "right_conversation_id",
            unique=True,
            postgresql_where=text("right_conversation_id IS NOT NULL"),
        ),
        CheckConstraint(
            "(right_conversation_id IS NULL) = (right_exchanges IS NULL) AND right_conversation_id <> conversation_id",
            name="right_conversation_is_another",
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    campaign_id: Mapped[UUID]
    package_id: Mapped[UUID] = mapped_column(ForeignKey(PackageRow.id))
    conversation_id: Mapped[UUID]
    exchanges: Mapped[int]
    right_conversation_id: Mapped[UUID | None]
    right_exchanges: Mapped[int | None]
    position: Mapped[int]
    speakers: Mapped[str] = mapped_column(Text)


class AnnotatorRow(_Base):
    """A person, or a program, who annotates in a campaign through a frontend.

    Who came with an import, or before frontends were known apart, has no frontend: ''.
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


class EntryLinkRow(_Base):
    """A signed way into a campaign; `annotators` counts who entered by it."""

    __tablename__ = "entry_links"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey(CampaignRow.id))
    frontend: Mapped[str | None] = mapped_column(String(200))
    annotator: Mapped[str | None] = mapped_column(String(200))
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    max_annotators: Mapped[int | None]
    annotators: Mapped[int] = mapped_column(server_default="0")
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class EntryRow(_Base):
    """An annotator who entered by a link, with the panel's parameters of the URL; a reload adds nothing."""

    __tablename__ = "entries"
    __table_args__ = (UniqueConstraint("annotator_id", "link_id", "parameters"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    annotator_id: Mapped[UUID] = mapped_column(ForeignKey(AnnotatorRow.id))
    link_id: Mapped[UUID] = mapped_column(ForeignKey(EntryLinkRow.id))
    parameters: Mapped[dict[str, Any]] = mapped_column(JSONB)
    entered_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class TrainingAttemptRow(_Base):
    """An annotator's attempt at the training of their campaign, numbered from 1."""

    __tablename__ = "training_attempts"

    annotator_id: Mapped[UUID] = mapped_column(ForeignKey(AnnotatorRow.id), primary_key=True)
    attempt: Mapped[int] = mapped_column(primary_key=True)
    state: Mapped[str] = mapped_column(String(20))
    started_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    ended_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class TrainingAnswerRow(_Base):
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


class BonusRow(_Base):
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


class SeenConversationRow(_Base):
    """A conversation that an annotator was shown or chatted in; the key refuses that it is shown after that."""

    __tablename__ = "seen_conversations"

    annotator_id: Mapped[UUID] = mapped_column(ForeignKey(AnnotatorRow.id), primary_key=True)
    conversation_id: Mapped[UUID] = mapped_column(primary_key=True)


class AssignmentRow(_Base):
    """A package that is leased to an annotator, who was last heard of at `heard_at` with an item on the screen."""

    __tablename__ = "assignments"
    __table_args__ = (
        UniqueConstraint("package_id", "annotator_id"),
        Index(None, "annotator_id", "state"),
        Index("ix_assignments_leased", "campaign_id", "expires_at", postgresql_where=text("state = 'leased'")),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey(CampaignRow.id))
    package_id: Mapped[UUID] = mapped_column(ForeignKey(PackageRow.id))
    annotator_id: Mapped[UUID] = mapped_column(ForeignKey(AnnotatorRow.id))
    state: Mapped[str] = mapped_column(String(20))
    leased_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    submitted_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    completion_code: Mapped[str | None] = mapped_column(String(100))
    heard_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    heard_position: Mapped[int | None]


class AnswerRow(_Base):
    """The draft of an answer to an item; `step` is the last that was shown, `opened_at` of each open exchange."""

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


class AnswerRevisionRow(_Base):
    """What a draft said before it was changed."""

    __tablename__ = "answer_revisions"

    assignment_id: Mapped[UUID] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    answer: Mapped[dict[str, Any]] = mapped_column(JSONB)
    step: Mapped[int]
    saved_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class AnnotationRow(_Base):
    """An answer as it was submitted, or imported: then it has an external id and no assignment."""

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
    started_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    ended_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    elapsed_ms: Mapped[int | None] = mapped_column(BigInteger)
    reported_ms: Mapped[int | None] = mapped_column(BigInteger)
    completion_code: Mapped[str | None] = mapped_column(String(100))
    decisions: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default="[]")


class AuditRow(_Base):
    """A decision that touches a person or a label; rows are only ever added, but for the words of the erased."""

    __tablename__ = "audit_log"
    __table_args__ = (Index(None, "campaign_id", "id"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey(CampaignRow.id))
    key_id: Mapped[UUID]
    action: Mapped[str] = mapped_column(String(50))
    annotator_id: Mapped[UUID | None]
    details: Mapped[dict[str, Any]] = mapped_column(JSONB)
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


EVENT_TABLES = event_tables(_Base.metadata, team_length=200)  # as long as a frontend of an annotator
IDEMPOTENCY = idempotency_table(_Base.metadata)
LINEAGE = Lineage("annotation", _Base.metadata, Path(__file__).parent / "migrations")
