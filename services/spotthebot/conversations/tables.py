"""The tables of the schema `conversations`."""

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
    LargeBinary,
    SmallInteger,
    String,
    Text,
    UniqueConstraint,
    Uuid,
    false,
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
    metadata = schema_metadata("conversations")


class CorpusRow(_Base):
    """A corpus of human dialogues; one that was removed has its id as its name, until a job has deleted it."""

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


class DialogueRow(_Base):
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


class SplitRow(_Base):
    """How much a corpus holds by split; kept in step with `dialogues`, so that no list has to count them."""

    __tablename__ = "corpus_splits"

    corpus_id: Mapped[UUID] = mapped_column(ForeignKey(CorpusRow.id), primary_key=True)
    split: Mapped[str] = mapped_column(String(50), primary_key=True)
    dialogues: Mapped[int] = mapped_column(BigInteger)
    utterances: Mapped[int] = mapped_column(BigInteger)
    exchanges: Mapped[int] = mapped_column(BigInteger)
    words: Mapped[int] = mapped_column(BigInteger)


class HeldOutExchangeRow(_Base):
    """An exchange of people's conversations, by the hash of its words; `suffices` where a conversation has no other."""

    __tablename__ = "held_out_exchanges"

    hash: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    in_chat: Mapped[bool] = mapped_column(primary_key=True)
    since: Mapped[UUID]
    """Dialogues with lower ids were stored before it was said, and are not held out by it."""
    suffices: Mapped[bool]


class PartnerSetRow(_Base):
    """One version of a partner set; it never changes."""

    __tablename__ = "partner_sets"
    __table_args__ = (UniqueConstraint("name", "version"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    version: Mapped[int]
    description: Mapped[str] = mapped_column(String(2000))
    partners: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class CollectionRow(_Base):
    """A collection: in `plan` what was asked for, and counts that every batch of turns adds to."""

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
    """The trace of the request that started it: those of its turns have links to it."""
    pseudonym_key: Mapped[bytes] = mapped_column(
        LargeBinary, server_default=text("(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))")
    )
    """Decides what exports call people who chat; it leaves this table for no answer."""


class TurnCountRow(_Base):
    """How many turns a collection got in ten seconds."""

    __tablename__ = "turn_counts"

    collection_id: Mapped[UUID] = mapped_column(ForeignKey(CollectionRow.id), primary_key=True)
    begins_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), primary_key=True)
    turns: Mapped[int]


class PairRow(_Base):
    """Who begins and who answers: what the conversations of a pair have in common."""

    __tablename__ = "pairs"
    __table_args__ = (
        Index(None, "participants", postgresql_using="gin", postgresql_ops={"participants": "jsonb_path_ops"}),
    )

    collection_id: Mapped[UUID] = mapped_column(ForeignKey(CollectionRow.id), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    participants: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)


_IS_WAITING = "state = 'running' AND runner_job_id IS NULL AND next_bot IS NOT NULL"


class ConversationRow(_Base):
    """A conversation; ids grow in the order of the collection's plan.

    The runner that claimed it (`runner_job_id`) changes no indexed column between turns, so that PostgreSQL writes no
    index entries for a turn: `next_bot` is true only of conversations that no runner has claimed.
    """

    __tablename__ = "conversations"
    __table_args__ = (
        UniqueConstraint("collection_id", "external_id"),
        ForeignKeyConstraint(["collection_id", "pair"], [PairRow.collection_id, PairRow.number]),
        Index(None, "collection_id", "id"),
        Index(None, "collection_id", "pair", "state"),
        Index(
            "ix_conversations_waiting", "collection_id", "next_bot", "round", "id", postgresql_where=text(_IS_WAITING)
        ),
        Index(
            "ix_conversations_claimed",
            "runner_job_id",
            "collection_id",
            postgresql_where=text("runner_job_id IS NOT NULL"),
        ),
        {"postgresql_with": {"fillfactor": 80}},
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    collection_id: Mapped[UUID] = mapped_column(ForeignKey(CollectionRow.id))
    pair: Mapped[int]
    round: Mapped[int]
    """Which of its pair's conversations: all pairs get their first before any gets its second."""
    external_id: Mapped[str | None] = mapped_column(String(200))
    state: Mapped[str] = mapped_column(String(20))
    ended_by: Mapped[str | None] = mapped_column(String(20))
    failure: Mapped[str | None] = mapped_column(String(1000))
    opening: Mapped[list[str]] = mapped_column(ARRAY(Text))
    opening_shown: Mapped[bool]
    turns_planned: Mapped[int]
    turns_said: Mapped[int] = mapped_column(server_default="0")
    seed: Mapped[int]
    next_bot: Mapped[UUID | None]
    runner_job_id: Mapped[int | None] = mapped_column(BigInteger)
    not_before: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    attempts: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    """Failed requests for its next turn, in a row."""


class TurnRow(_Base):
    """An utterance; A speaks at even positions. `raw` is what the bot said, where that was not all text."""

    __tablename__ = "turns"

    conversation_id: Mapped[UUID] = mapped_column(ForeignKey(ConversationRow.id), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    text: Mapped[str] = mapped_column(Text)
    raw: Mapped[str | None] = mapped_column(Text)
    latency_ms: Mapped[float | None]
    said_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class QualityCheckRow(_Base):
    """The progress of a collection's quality check, and the summary of the last one that ended."""

    __tablename__ = "quality_checks"

    collection_id: Mapped[UUID] = mapped_column(ForeignKey(CollectionRow.id), primary_key=True)
    state: Mapped[str] = mapped_column(String(20))
    failure: Mapped[str | None] = mapped_column(String(1000))
    training_corpus_id: Mapped[UUID | None] = mapped_column(ForeignKey(CorpusRow.id))
    training_split: Mapped[str | None] = mapped_column(String(50))
    requested_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    summary: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    checked_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class QualityFlagsRow(_Base):
    """The quality flags of a conversation; the last three columns serve to compare it with others."""

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


class ConcurrencySlotRow(_Base):
    """Slots that a job occupies at a bot: they keep all processes together within the bot's concurrency.

    Unlogged: after a crash of PostgreSQL no request is left that could occupy one.
    """

    __tablename__ = "concurrency_slots"
    __table_args__ = (Index(None, "bot_id"), {"prefixes": ["UNLOGGED"]})

    id: Mapped[UUID] = mapped_column(primary_key=True)
    bot_id: Mapped[UUID]
    job_id: Mapped[int] = mapped_column(BigInteger)
    slots: Mapped[int]
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    queued: Mapped[bool] = mapped_column(server_default=false())
    """Whether a chat only queues for it, ahead of the runners."""


class UnavailableBotRow(_Base):
    """A bot that is asked nothing until it recovers: its conversations wait."""

    __tablename__ = "unavailable_bots"

    bot_id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    reason: Mapped[str] = mapped_column(String(1000))
    since: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class ChatRow(_Base):
    """A person's conversations with the bots that were drawn; `conversations` has those that have begun."""

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
    """By which the person came, as its frontend calls it."""
    state: Mapped[str] = mapped_column(String(20))
    bots: Mapped[list[UUID]] = mapped_column(ARRAY(Uuid))
    conversations: Mapped[list[UUID]] = mapped_column(ARRAY(Uuid))
    events: Mapped[int] = mapped_column(server_default="0")
    """How many there are; they are numbered under the lock of this row."""
    ratings: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    last_turn_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    rated_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    token_sha256: Mapped[bytes | None] = mapped_column(LargeBinary)
    token_expires_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class RevokedLinkRow(_Base):
    """A link by which nobody may come to a collection's chats any more, as its frontend calls it."""

    __tablename__ = "revoked_links"

    collection_id: Mapped[UUID] = mapped_column(ForeignKey(CollectionRow.id), primary_key=True)
    link: Mapped[str] = mapped_column(String(200), primary_key=True)
    revoked_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class ImportedRatingRow(_Base):
    """How a person rated a conversation where it was held; ratings of chats that were held here lie with the chats."""

    __tablename__ = "imported_ratings"
    __table_args__ = (Index(None, "collection_id", "chat_id"),)

    conversation_id: Mapped[UUID] = mapped_column(ForeignKey(ConversationRow.id), primary_key=True)
    collection_id: Mapped[UUID] = mapped_column(ForeignKey(CollectionRow.id))
    chat_id: Mapped[UUID]
    interactor: Mapped[str] = mapped_column(String(200))
    number: Mapped[int] = mapped_column(SmallInteger)
    scores: Mapped[dict[str, int]] = mapped_column(JSONB)
    preferred: Mapped[int | None] = mapped_column(SmallInteger)
    rated_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class ChatEventRow(_Base):
    """An event of a chat, which is sent to the person who chats."""

    __tablename__ = "chat_events"

    chat_id: Mapped[UUID] = mapped_column(ForeignKey(ChatRow.id), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kind: Mapped[str] = mapped_column(String(20))
    data: Mapped[dict[str, Any]] = mapped_column(JSONB)


EVENT_TABLES = event_tables(_Base.metadata)
IDEMPOTENCY = idempotency_table(_Base.metadata)
LINEAGE = Lineage("conversations", _Base.metadata, Path(__file__).parent / "migrations")
