"""The tables of chats: their people, their events, their ratings, and revoked links."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    DateTime,
    ForeignKey,
    Index,
    LargeBinary,
    SmallInteger,
    String,
    UniqueConstraint,
    Uuid,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.conversations.collections.tables import CollectionRow
from spotthebot.conversations.conversations.tables import ConversationRow
from spotthebot.conversations.metadata import Base


class ChatRow(Base):
    """A person's chat with the drawn bots; `conversations` has the conversations that have begun."""

    __tablename__ = "chats"
    __table_args__ = (
        Index(None, "collection_id", "id"),
        Index(None, "collection_id", "interactor"),
        Index("ix_chats_chatting", "last_turn_at", postgresql_where=text("state = 'chatting'")),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    collection_id: Mapped[UUID] = mapped_column(ForeignKey(CollectionRow.id))
    interactor: Mapped[str] = mapped_column(String(200))
    link: Mapped[str | None] = mapped_column(String(200))
    """The link by which the person entered, by its name at the frontend."""
    state: Mapped[str] = mapped_column(String(20))
    bots: Mapped[list[UUID]] = mapped_column(ARRAY(Uuid))
    conversations: Mapped[list[UUID]] = mapped_column(ARRAY(Uuid))
    events: Mapped[int] = mapped_column(server_default="0")
    """The number of events; they are numbered under the lock of this row."""
    ratings: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    last_turn_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    rated_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    token_sha256: Mapped[bytes | None] = mapped_column(LargeBinary)
    token_expires_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class ChatPersonRow(Base):
    """A person, or a program, who began a chat in a collection, or whose rating was imported.

    Their consent is deleted if they are erased.
    """

    __tablename__ = "chat_people"
    __table_args__ = (UniqueConstraint("collection_id", "interactor"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    collection_id: Mapped[UUID] = mapped_column(ForeignKey(CollectionRow.id))
    interactor: Mapped[str] = mapped_column(String(200))
    kind: Mapped[str] = mapped_column(String(20), server_default="person")
    consent_sha256: Mapped[str | None] = mapped_column(String(64))
    consented_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    consent_withdrawn_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    erased_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    texts_erased_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class RevokedLinkRow(Base):
    """A revoked link into a collection's chats, by its name at the frontend."""

    __tablename__ = "revoked_links"

    collection_id: Mapped[UUID] = mapped_column(ForeignKey(CollectionRow.id), primary_key=True)
    link: Mapped[str] = mapped_column(String(200), primary_key=True)
    revoked_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class ImportedRatingRow(Base):
    """A person's rating of an imported conversation. Ratings of chats held here are stored with the chats.

    `chat_people` has the kind of each interactor, for both.
    """

    __tablename__ = "imported_ratings"
    __table_args__ = (Index(None, "collection_id", "chat_id"), Index(None, "collection_id", "interactor"))

    conversation_id: Mapped[UUID] = mapped_column(ForeignKey(ConversationRow.id), primary_key=True)
    collection_id: Mapped[UUID] = mapped_column(ForeignKey(CollectionRow.id))
    chat_id: Mapped[UUID]
    interactor: Mapped[str] = mapped_column(String(200))
    number: Mapped[int] = mapped_column(SmallInteger)
    scores: Mapped[dict[str, int]] = mapped_column(JSONB)
    preferred: Mapped[int | None] = mapped_column(SmallInteger)
    preferences: Mapped[dict[str, int | None]] = mapped_column(JSONB, server_default=text("'{}'"))
    rated_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class ChatEventRow(Base):
    """An event of a chat, which is sent to the person who chats."""

    __tablename__ = "chat_events"

    chat_id: Mapped[UUID] = mapped_column(ForeignKey(ChatRow.id), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kind: Mapped[str] = mapped_column(String(20))
    data: Mapped[dict[str, Any]] = mapped_column(JSONB)
