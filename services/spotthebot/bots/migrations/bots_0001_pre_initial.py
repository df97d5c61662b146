"""The first tables."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "bots_0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "bots",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("team", sa.String(length=100), nullable=True),
        sa.Column("description", sa.String(length=2000), nullable=False),
        sa.Column("domains", postgresql.ARRAY(sa.String(length=50)), nullable=False),
        sa.Column("protocol", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("training_sha256", sa.String(length=64), nullable=True),
        sa.Column("configuration_sha256", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bots")),
        sa.UniqueConstraint("team", "name", name=op.f("uq_bots_team_name"), postgresql_nulls_not_distinct=True),
        schema="bots",
    )
    op.create_table(
        "idempotency_keys",
        sa.Column("principal", sa.Uuid(), nullable=False),
        sa.Column("path", sa.String(length=500), nullable=False),
        sa.Column("key", sa.String(length=200), nullable=False),
        sa.Column("body_sha256", sa.LargeBinary(), nullable=False),
        sa.Column("status", sa.SmallInteger(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("principal", "path", "key", name=op.f("pk_idempotency_keys")),
        schema="bots",
    )
    op.create_index("ix_idempotency_keys_created_at", "idempotency_keys", ["created_at"], unique=False, schema="bots")
