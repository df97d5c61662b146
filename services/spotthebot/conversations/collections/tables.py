"""The tables of collections: their plans and counts, their turns in each ten seconds, and the pairs that talk."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    DateTime,
    ForeignKey,
    Index,
    LargeBinary,
    SmallInteger,
    String,
    Text,
    Uuid,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.conversations.metadata import Base


class CollectionRow(Base):
    """A collection: its request in `plan`, and counts that every batch of turns updates."""

    __tablename__ = "collections"
    __table_args__ = (Index(None, "priority", "id", postgresql_where=text("state = 'collecting'")),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    domain: Mapped[str] = mapped_column(String(50))
    mode: Mapped[str] = mapped_column(String(20))
    plan: Mapped[dict[str, Any]] = mapped_column(JSONB)
    state: Mapped[str] = mapped_column(String(20))
    priority: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    bots: Mapped[list[UUID]] = mapped_column(ARRAY(Uuid), server_default="{}")
    conversations: Mapped[int] = mapped_column(server_default="0")
    complete: Mapped[int] = mapped_column(server_default="0")
    failed: Mapped[int] = mapped_column(server_default="0")
    cancelled: Mapped[int] = mapped_column(server_default="0")
    turns: Mapped[int] = mapped_column(BigInteger, server_default="0")
    turns_planned: Mapped[int] = mapped_column(BigInteger, server_default="0")
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    finished_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    trace: Mapped[str | None] = mapped_column(Text)
    """The trace of the request that started it; the traces of its turns have links to it."""
    pseudonym_key: Mapped[bytes] = mapped_column(
        LargeBinary, server_default=text("(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))")
    )
    """The key of pseudonyms in exports for people who chat; it is never sent."""


class TurnCountRow(Base):
    """The number of turns that a collection got in one interval of ten seconds."""

    __tablename__ = "turn_counts"

    collection_id: Mapped[UUID] = mapped_column(ForeignKey(CollectionRow.id), primary_key=True)
    begins_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), primary_key=True)
    turns: Mapped[int]


class PairRow(Base):
    """A pair: the participant that begins and the participant that answers, shared by its conversations."""

    __tablename__ = "pairs"
    __table_args__ = (
        Index(None, "participants", postgresql_using="gin", postgresql_ops={"participants": "jsonb_path_ops"}),
    )

    collection_id: Mapped[UUID] = mapped_column(ForeignKey(CollectionRow.id), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    participants: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
