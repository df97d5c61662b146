"""The tables of quality checks and quality flags."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import DateTime, ForeignKey, Index, SmallInteger, String, func
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.conversations.collections.tables import CollectionRow
from spotthebot.conversations.conversations.tables import ConversationRow
from spotthebot.conversations.corpora.tables import CorpusRow
from spotthebot.conversations.metadata import Base


class QualityCheckRow(Base):
    """The progress of a collection's quality check, and the summary of the last completed check."""

    __tablename__ = "quality_checks"

    collection_id: Mapped[UUID] = mapped_column(ForeignKey(CollectionRow.id), primary_key=True)
    state: Mapped[str] = mapped_column(String(20))
    failure: Mapped[str | None] = mapped_column(String(1000))
    training_corpus_id: Mapped[UUID | None] = mapped_column(ForeignKey(CorpusRow.id))
    training_split: Mapped[str | None] = mapped_column(String(50))
    requested_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    summary: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    checked_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class QualityFlagsRow(Base):
    """The quality flags of a conversation; the last three columns serve comparisons."""

    __tablename__ = "quality_flags"
    __table_args__ = (Index(None, "collection_id", "conversation_id"),)

    conversation_id: Mapped[UUID] = mapped_column(ForeignKey(ConversationRow.id), primary_key=True)
    collection_id: Mapped[UUID] = mapped_column(ForeignKey(CollectionRow.id))
    rules: Mapped[int] = mapped_column(SmallInteger)
    bot_speaks: Mapped[bool]
    turns: Mapped[int]
    words: Mapped[int]
    language: Mapped[str | None] = mapped_column(String(10))
    language_probability: Mapped[float | None]
    exact_duplicate_of: Mapped[UUID | None]
    near_duplicate_of: Mapped[UUID | None]
    similarity: Mapped[float | None]
    in_training: Mapped[int | None]
    profanity: Mapped[list[int]] = mapped_column(ARRAY(SmallInteger))
    personal_data: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    text_hash: Mapped[bytes]
    signature: Mapped[bytes]
    exchange_hashes: Mapped[bytes]
