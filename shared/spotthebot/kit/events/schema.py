"""Creates the tables of events in the first revision of a service. Each service has its own later revisions of them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

_MOMENT = sa.DateTime(timezone=True)
_NOW = sa.text("now()")


def create_event_tables(schema: str, *, team_length: int = 100) -> None:
    """Create the tables of subscriptions, events and deliveries in a service's schema."""
    _create_subscriptions(schema, team_length)
    _create_events(schema, team_length)
    _create_deliveries(schema)


def _create_subscriptions(schema: str, team_length: int) -> None:
    op.create_table(
        "subscriptions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("team", sa.String(team_length)),
        sa.Column("url", sa.String(2000), nullable=False),
        sa.Column("events", postgresql.ARRAY(sa.String(50)), nullable=False),
        sa.Column("sealed_secret", sa.LargeBinary(), nullable=False),
        sa.Column("old_sealed_secret", sa.LargeBinary()),
        sa.Column("old_secret_until", _MOMENT),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("inactive_reason", sa.String(500)),
        sa.Column("created_at", _MOMENT, server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_subscriptions"),
        schema=schema,
    )


def _create_events(schema: str, team_length: int) -> None:
    op.execute(f"CREATE SEQUENCE {schema}.event_positions")
    op.create_table(
        "events",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("type", sa.String(50), nullable=False),
        sa.Column("data", postgresql.JSONB(), nullable=False),
        sa.Column("team", sa.String(team_length)),
        sa.Column("distributed", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("position", sa.BigInteger()),
        sa.Column("trace", sa.Text()),
        sa.Column("created_at", _MOMENT, server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
        schema=schema,
    )
    op.create_index("ix_events_created_at", "events", ["created_at"], schema=schema)
    op.create_index("ix_events_position", "events", ["position"], schema=schema, unique=True)
    for name, columns, condition in (
        ("ix_events_new", ["id"], "NOT distributed"),
        ("ix_events_unnumbered", ["id"], "distributed AND position IS NULL"),
        ("ix_events_team_position", ["team", "position"], "team IS NOT NULL"),
    ):
        op.create_index(name, "events", columns, schema=schema, postgresql_where=sa.text(condition))


def _create_deliveries(schema: str) -> None:
    op.create_table(
        "deliveries",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("subscription_id", sa.Uuid(), nullable=False),
        sa.Column("event_id", sa.Uuid(), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("attempts", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("status", sa.SmallInteger()),
        sa.Column("error", sa.String(500)),
        sa.Column("last_attempt_at", _MOMENT),
        sa.Column("next_attempt_at", _MOMENT),
        sa.Column("leased_until", _MOMENT),
        sa.Column("created_at", _MOMENT, server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_deliveries"),
        sa.ForeignKeyConstraint(
            ["subscription_id"],
            [f"{schema}.subscriptions.id"],
            name="fk_deliveries_subscription_id_subscriptions",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["event_id"], [f"{schema}.events.id"], name="fk_deliveries_event_id_events"),
        sa.UniqueConstraint("subscription_id", "event_id", name="uq_deliveries_subscription_id_event_id"),
        schema=schema,
    )
    op.create_index("ix_deliveries_subscription_id_id", "deliveries", ["subscription_id", "id"], schema=schema)
    op.create_index("ix_deliveries_event_id", "deliveries", ["event_id"], schema=schema)
    op.create_index(
        "ix_deliveries_pending",
        "deliveries",
        ["subscription_id", "next_attempt_at"],
        schema=schema,
        postgresql_where=sa.text("state = 'pending'"),
    )
