"""Events, subscriptions to them, and their deliveries."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "fed_0002"
down_revision = "fed_0001"
branch_labels = None
depends_on = None

_SCHEMA = "fed"


def upgrade() -> None:
    op.execute("CREATE SEQUENCE fed.event_positions")
    op.create_table(
        "subscriptions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("team", sa.String(length=100)),
        sa.Column("url", sa.String(length=2000), nullable=False),
        sa.Column("events", postgresql.ARRAY(sa.String(length=50)), nullable=False),
        sa.Column("sealed_secret", sa.LargeBinary(), nullable=False),
        sa.Column("old_sealed_secret", sa.LargeBinary()),
        sa.Column("old_secret_until", sa.DateTime(timezone=True)),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("inactive_reason", sa.String(length=500)),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_subscriptions")),
        schema=_SCHEMA,
    )
    op.create_table(
        "events",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("type", sa.String(length=50), nullable=False),
        sa.Column("data", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("team", sa.String(length=100)),
        sa.Column("distributed", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("position", sa.BigInteger()),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
        schema=_SCHEMA,
    )
    op.create_index("ix_events_new", "events", ["id"], schema=_SCHEMA, postgresql_where=sa.text("NOT distributed"))
    op.create_index("ix_events_created_at", "events", ["created_at"], schema=_SCHEMA)
    op.create_index(
        "ix_events_unnumbered",
        "events",
        ["id"],
        schema=_SCHEMA,
        postgresql_where=sa.text("distributed AND position IS NULL"),
    )
    op.create_index("ix_events_position", "events", ["position"], schema=_SCHEMA, unique=True)
    op.create_index(
        "ix_events_team_position",
        "events",
        ["team", "position"],
        schema=_SCHEMA,
        postgresql_where=sa.text("team IS NOT NULL"),
    )
    op.create_table(
        "deliveries",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("subscription_id", sa.Uuid(), nullable=False),
        sa.Column("event_id", sa.Uuid(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("attempts", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("status", sa.SmallInteger()),
        sa.Column("error", sa.String(length=500)),
        sa.Column("last_attempt_at", sa.DateTime(timezone=True)),
        sa.Column("next_attempt_at", sa.DateTime(timezone=True)),
        sa.Column("leased_until", sa.DateTime(timezone=True)),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["subscription_id"],
            ["fed.subscriptions.id"],
            name=op.f("fk_deliveries_subscription_id_subscriptions"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["event_id"], ["fed.events.id"], name=op.f("fk_deliveries_event_id_events")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deliveries")),
        sa.UniqueConstraint("subscription_id", "event_id", name=op.f("uq_deliveries_subscription_id_event_id")),
        schema=_SCHEMA,
    )
    op.create_index("ix_deliveries_subscription_id_id", "deliveries", ["subscription_id", "id"], schema=_SCHEMA)
    op.create_index("ix_deliveries_event_id", "deliveries", ["event_id"], schema=_SCHEMA)
    op.create_index(
        "ix_deliveries_pending",
        "deliveries",
        ["subscription_id", "next_attempt_at"],
        schema=_SCHEMA,
        postgresql_where=sa.text("state = 'pending'"),
    )
