"""The tables of the schema `conversations`."""

from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import DateTime, ForeignKey, Index, String, Text, UniqueConstraint, func
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from spotthebot.kit.database import schema_metadata
from spotthebot.kit.migrations import Lineage
from spotthebot.kit.web.idempotency import idempotency_table


class _Base(DeclarativeBase):
    metadata = schema_metadata("conversations")


class CorpusRow(_Base):
    """A corpus of human dialogues."""

    __tablename__ = "corpora"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100), unique=True)
    domain: Mapped[str] = mapped_column(String(50))
    origin: Mapped[str] = mapped_column(String(1000))
    licence: Mapped[str] = mapped_column(String(200))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class DialogueRow(_Base):
    """A dialogue of a corpus; ids grow in the order of upload."""

    __tablename__ = "dialogues"
    __table_args__ = (UniqueConstraint("corpus_id", "key"), Index(None, "corpus_id", "split", "id"))

    id: Mapped[UUID] = mapped_column(primary_key=True)
    corpus_id: Mapped[UUID] = mapped_column(ForeignKey(CorpusRow.id))
    key: Mapped[str] = mapped_column(String(200))
    split: Mapped[str] = mapped_column(String(50))
    turns: Mapped[list[str]] = mapped_column(ARRAY(Text))


class CollectionRow(_Base):
    """A collection and, in `plan`, what was asked for."""

    __tablename__ = "collections"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    domain: Mapped[str] = mapped_column(String(50))
    mode: Mapped[str] = mapped_column(String(20))
    plan: Mapped[dict[str, Any]] = mapped_column(JSONB)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class ConversationRow(_Base):
    """A conversation; ids grow in the order of the collection's plan."""

    __tablename__ = "conversations"
    __table_args__ = (
        UniqueConstraint("collection_id", "external_id"),
        Index(None, "collection_id", "state", "id"),
        Index(None, "participants", postgresql_using="gin", postgresql_ops={"participants": "jsonb_path_ops"}),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    collection_id: Mapped[UUID] = mapped_column(ForeignKey(CollectionRow.id))
    external_id: Mapped[str | None] = mapped_column(String(200))
    state: Mapped[str] = mapped_column(String(20))
    failure: Mapped[str | None] = mapped_column(String(1000))
    participants: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    opening: Mapped[list[str]] = mapped_column(ARRAY(Text))
    opening_shown: Mapped[bool]
    turns_wanted: Mapped[int]
    seed: Mapped[int]


class TurnRow(_Base):
    """An utterance; A speaks at even positions."""

    __tablename__ = "turns"

    conversation_id: Mapped[UUID] = mapped_column(ForeignKey(ConversationRow.id), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    text: Mapped[str] = mapped_column(Text)
    latency_ms: Mapped[float | None]


IDEMPOTENCY = idempotency_table(_Base.metadata)
LINEAGE = Lineage("conversations", _Base.metadata, Path(__file__).parent / "migrations")
