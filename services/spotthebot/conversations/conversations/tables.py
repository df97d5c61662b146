"""The tables of conversations and turns."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    DateTime,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    SmallInteger,
    String,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.conversations.collections.tables import CollectionRow, PairRow
from spotthebot.conversations.metadata import Base

_IS_WAITING = "state = 'running' AND runner_job_id IS NULL AND next_bot IS NOT NULL"


class ConversationRow(Base):
    """A conversation; ids grow in the order of the collection's plan.

    While a runner has claimed it (`runner_job_id`), a turn changes no indexed column, so PostgreSQL writes no index
    entries for turns. That is why `next_bot` is up to date only for unclaimed conversations. It is null in chats with
    people, which no runner claims.
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
    """The number of the conversation within its pair: every pair runs its first before any pair runs its second."""
    external_id: Mapped[str | None] = mapped_column(String(200))
    state: Mapped[str] = mapped_column(String(20))
    ended_by: Mapped[str | None] = mapped_column(String(20))
    failure: Mapped[str | None] = mapped_column(String(1000))
    opening: Mapped[list[str]] = mapped_column(ARRAY(Text))
    opening_shown: Mapped[bool]
    personas: Mapped[list[str] | None] = mapped_column(ARRAY(Text))
    turns_planned: Mapped[int]
    turns_said: Mapped[int] = mapped_column(server_default="0")
    seed: Mapped[int]
    next_bot: Mapped[UUID | None]
    runner_job_id: Mapped[int | None] = mapped_column(BigInteger)
    not_before: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    attempts: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    """Failed requests for its next turn, in a row."""


class TurnRow(Base):
    """An utterance; A speaks at even positions. `raw` is the bot's original reply, if cleaning changed it."""

    __tablename__ = "turns"

    conversation_id: Mapped[UUID] = mapped_column(ForeignKey(ConversationRow.id), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    text: Mapped[str] = mapped_column(Text)
    raw: Mapped[str | None] = mapped_column(Text)
    latency_ms: Mapped[float | None]
    said_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
