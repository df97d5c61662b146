"""The first tables."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from spotthebot.kit.jobs import create_job_tables

revision = "analytics_0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "results",
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("revision", sa.String(length=200), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_results")),
        schema="analytics",
    )
    op.create_index(
        op.f("ix_results_campaign_id_revision"),
        "results",
        ["campaign_id", "revision"],
        unique=False,
        schema="analytics",
    )
    op.create_table(
        "analyses",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=True),
        sa.Column("request", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("failure", sa.String(length=1000), nullable=True),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.Column("counts", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("data_sha256", sa.String(length=64), nullable=True),
        sa.Column("version", sa.String(length=50), nullable=False),
        sa.Column("result", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_analyses")),
        schema="analytics",
    )
    op.create_index(
        op.f("ix_analyses_campaign_id_kind_id"),
        "analyses",
        ["campaign_id", "kind", "id"],
        unique=False,
        schema="analytics",
    )
    op.create_table(
        "analysis_steps",
        sa.Column("analysis_id", sa.Uuid(), nullable=False),
        sa.Column("step", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("result", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.ForeignKeyConstraint(
            ["analysis_id"],
            ["analytics.analyses.id"],
            name=op.f("fk_analysis_steps_analysis_id_analyses"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("analysis_id", "step", name=op.f("pk_analysis_steps")),
        schema="analytics",
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
        schema="analytics",
    )
    op.create_index(
        "ix_idempotency_keys_created_at", "idempotency_keys", ["created_at"], unique=False, schema="analytics"
    )
    create_job_tables(op.get_bind(), "analytics")
