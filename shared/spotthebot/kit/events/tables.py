"""The tables of events, subscriptions and deliveries. They are in the schema of the service that uses them."""

from dataclasses import dataclass

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    Sequence,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    false,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB


@dataclass(frozen=True)
class EventTables:
    """The three tables of one service, and the sequence that numbers its events."""

    subscriptions: Table
    events: Table
    deliveries: Table
    positions: Sequence


def event_tables(metadata: MetaData, *, team_length: int = 100) -> EventTables:
    """Add the tables of events to the metadata of a service. The service's own migration creates them.

    The name of a team has at most `team_length` characters.
    """
    subscriptions = _subscriptions(metadata, team_length)
    events = _events(metadata, team_length)
    positions = Sequence("event_positions", metadata=metadata)
    return EventTables(subscriptions, events, _deliveries(metadata, subscriptions, events), positions)


def _subscriptions(metadata: MetaData, team_length: int) -> Table:
    return Table(
        "subscriptions",
        metadata,
        Column("id", Uuid, primary_key=True),
        Column("team", String(team_length)),  # null for the operator's own
        Column("url", String(2000), nullable=False),
        Column("events", ARRAY(String(50)), nullable=False),
        Column("sealed_secret", LargeBinary, nullable=False),
        Column("old_sealed_secret", LargeBinary),
        Column("old_secret_until", DateTime(timezone=True)),
        Column("active", Boolean, nullable=False),
        Column("inactive_reason", String(500)),
        Column("created_at", DateTime(timezone=True), server_default=func.now(), nullable=False),
    )


def _events(metadata: MetaData, team_length: int) -> Table:
    """Return the outbox table. An event is written in the transaction of the change that it reports."""
    return Table(
        "events",
        metadata,
        Column("id", Uuid, primary_key=True),
        Column("type", String(50), nullable=False),
        Column("data", JSONB, nullable=False),
        Column("team", String(team_length)),
        Column("distributed", Boolean, server_default=false(), nullable=False),  # whether its deliveries are made
        # Numbered after the commit, in an order that no later commit changes; ids are made before it.
        Column("position", BigInteger),
        Column("trace", Text),
        Column("created_at", DateTime(timezone=True), server_default=func.now(), nullable=False),
        Index("ix_events_new", "id", postgresql_where=text("NOT distributed")),
        Index(None, "created_at"),
        Index("ix_events_unnumbered", "id", postgresql_where=text("distributed AND position IS NULL")),
        Index(None, "position", unique=True),
        Index(None, "team", "position", postgresql_where=text("team IS NOT NULL")),
    )


def _deliveries(metadata: MetaData, subscriptions: Table, events: Table) -> Table:
    """Return the deliveries table. Each subscriber has its own queue, so no subscriber waits for another."""
    return Table(
        "deliveries",
        metadata,
        Column("id", Uuid, primary_key=True),
        Column("subscription_id", Uuid, ForeignKey(subscriptions.c.id, ondelete="CASCADE"), nullable=False),
        Column("event_id", Uuid, ForeignKey(events.c.id), nullable=False),
        Column("state", String(20), nullable=False),
        Column("attempts", SmallInteger, server_default="0", nullable=False),
        Column("status", SmallInteger),
        Column("error", String(500)),
        Column("last_attempt_at", DateTime(timezone=True)),
        Column("next_attempt_at", DateTime(timezone=True)),
        # Until then one dispatcher makes an attempt. Afterwards it counts as dead, and another may.
        Column("leased_until", DateTime(timezone=True)),
        Column("created_at", DateTime(timezone=True), server_default=func.now(), nullable=False),
        UniqueConstraint("subscription_id", "event_id"),
        Index(None, "subscription_id", "id"),
        Index(None, "event_id"),
        Index(
            "ix_deliveries_pending", "subscription_id", "next_attempt_at", postgresql_where=text("state = 'pending'")
        ),
    )
