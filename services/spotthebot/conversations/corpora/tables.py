"""The tables of corpora, and of the exchanges that no bot may learn."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, DateTime, ForeignKey, Index, String, Text, UniqueConstraint, func
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.conversations.metadata import Base


class CorpusRow(Base):
    """A corpus of human dialogues. A removed corpus has its id as its name until a job has deleted it."""

    __tablename__ = "corpora"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100), unique=True)
    domain: Mapped[str] = mapped_column(String(50))
    origin: Mapped[str] = mapped_column(String(1000))
    licence: Mapped[str] = mapped_column(String(200))
    owner: Mapped[str | None] = mapped_column(String(100))
    visibility: Mapped[str] = mapped_column(String(10), server_default="private")
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    removed_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class DialogueRow(Base):
    """A dialogue of a corpus; ids grow in the order of upload."""

    __tablename__ = "dialogues"
    __table_args__ = (UniqueConstraint("corpus_id", "key"), Index(None, "corpus_id", "split", "id"))

    id: Mapped[UUID] = mapped_column(primary_key=True)
    corpus_id: Mapped[UUID] = mapped_column(ForeignKey(CorpusRow.id))
    key: Mapped[str] = mapped_column(String(200))
    split: Mapped[str] = mapped_column(String(50))
    turns: Mapped[list[str]] = mapped_column(ARRAY(Text))
    persona: Mapped[list[str] | None] = mapped_column(ARRAY(Text))
    details: Mapped[dict[str, Any] | None] = mapped_column("metadata", JSONB(none_as_null=True))


class SplitRow(Base):
    """The size of a split of a corpus. Each change of `dialogues` updates it, so that lists need no count."""

    __tablename__ = "corpus_splits"

    corpus_id: Mapped[UUID] = mapped_column(ForeignKey(CorpusRow.id), primary_key=True)
    split: Mapped[str] = mapped_column(String(50), primary_key=True)
    dialogues: Mapped[int] = mapped_column(BigInteger)
    utterances: Mapped[int] = mapped_column(BigInteger)
    exchanges: Mapped[int] = mapped_column(BigInteger)
    words: Mapped[int] = mapped_column(BigInteger)


class HeldOutExchangeRow(Base):
    """An exchange of people's conversations, by the hash of its words.

    `suffices` is true if the conversation has no other exchange.
    """

    __tablename__ = "held_out_exchanges"

    hash: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    in_chat: Mapped[bool] = mapped_column(primary_key=True)
    since: Mapped[UUID]
    """Dialogues with lower ids were stored before this exchange was said, so it does not hold them out."""
    suffices: Mapped[bool]
