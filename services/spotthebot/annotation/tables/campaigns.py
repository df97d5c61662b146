"""Campaigns, what annotators are asked and learn, and the packages of what is shown."""

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
    Integer,
    LargeBinary,
    Numeric,
    String,
    Text,
    UniqueConstraint,
    Uuid,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.annotation.tables.metadata import Base


class ProtocolRow(Base):
    """A version of a protocol, which never changes; those that are built in stand in the code."""

    __tablename__ = "protocols"
    __table_args__ = (UniqueConstraint("name", "version"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(50))
    version: Mapped[int]
    document: Mapped[dict[str, Any]] = mapped_column(JSONB)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class TrainingRow(Base):
    """A version of a training, which never changes: dialogues with their right answers."""

    __tablename__ = "trainings"
    __table_args__ = (UniqueConstraint("name", "version"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(50))
    version: Mapped[int]
    document: Mapped[dict[str, Any]] = mapped_column(JSONB)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class CampaignRow(Base):
    """A campaign, with counters of what it holds; `built_at` is when its packages were there, `closed_at` its end.

    `packages` and `items` count what was packed, `annotations` what annotators submitted or what was imported,
    `submitted` the assignments that were. `secret` decides with the seed how its conversations are packed, and
    `pseudonym_key` what exports call its annotators; both leave this table for no answer. `annotators_published` says
    that the names of an import's annotators are public, `released_at` since when teams may see the results,
    `published_at` since when everybody may. The first collection is `collection_id`.
    """

    __tablename__ = "campaigns"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    domain: Mapped[str] = mapped_column(String(50))
    collection_id: Mapped[UUID]
    more_collections: Mapped[list[UUID]] = mapped_column(ARRAY(Uuid), server_default="{}")
    human_share: Mapped[float | None]
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
    gold: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    max_strikes: Mapped[int | None]
    min_seconds_per_item: Mapped[float | None]
    min_fraction_of_median: Mapped[float | None]
    strike_fast_packages: Mapped[bool] = mapped_column(server_default="false")
    seed: Mapped[int]
    pay_per_package: Mapped[Decimal | None] = mapped_column(Numeric(9, 2))
    currency: Mapped[str | None] = mapped_column(String(3))
    opens_when_built: Mapped[bool] = mapped_column(server_default="true")
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    state: Mapped[str] = mapped_column(String(20))
    built_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    closed_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    released_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    published_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    failure: Mapped[str | None] = mapped_column(Text)
    secret: Mapped[bytes | None] = mapped_column(LargeBinary)
    pseudonym_key: Mapped[bytes] = mapped_column(
        LargeBinary, server_default=text("(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))")
    )
    annotators_published: Mapped[bool] = mapped_column(server_default="false")
    interactor_salt: Mapped[bytes | None] = mapped_column(LargeBinary)
    too_short: Mapped[int | None]
    not_selected: Mapped[int | None]
    unpaired: Mapped[int | None]
    packages: Mapped[int] = mapped_column(server_default="0")
    items: Mapped[int] = mapped_column(server_default="0")
    annotations: Mapped[int] = mapped_column(server_default="0")
    submitted: Mapped[int] = mapped_column(server_default="0")


class ShownConversationRow(Base):
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


class PackageRow(Base):
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


class ItemRow(Base):
    """The first `exchanges` exchanges of a conversation, at a position of the one package that shows them.

    `speakers` names the side of each turn that is shown, the opening's among them: `ABABA`; `text_hash` is the same for
    items that show the same words, and null where there are none. Of a pair all this is about the conversation on the
    left.
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
    text_hash: Mapped[bytes | None] = mapped_column(LargeBinary)


class AuditRow(Base):
    """A decision that touches a person, a label or a campaign, which may be deleted; rows are only ever added.

    Words of the erased alone are replaced.
    """

    __tablename__ = "audit_log"
    __table_args__ = (Index(None, "campaign_id", "id"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    campaign_id: Mapped[UUID]
    key_id: Mapped[UUID]
    action: Mapped[str] = mapped_column(String(50))
    annotator_id: Mapped[UUID | None]
    details: Mapped[dict[str, Any]] = mapped_column(JSONB)
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
