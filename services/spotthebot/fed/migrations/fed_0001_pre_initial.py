"""The first tables."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from spotthebot.kit.jobs import create_job_tables

revision = "fed_0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "step_jobs",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("subject_id", sa.Uuid(), nullable=True),
        sa.Column("request", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("failure", sa.String(length=1000), nullable=True),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.Column("inputs", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("fingerprint", sa.String(length=64), nullable=True),
        sa.Column("version", sa.String(length=50), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=True),
        sa.Column("result", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_step_jobs")),
        schema="fed",
    )
    op.create_index(
        op.f("ix_step_jobs_subject_id_kind_id"), "step_jobs", ["subject_id", "kind", "id"], unique=False, schema="fed"
    )
    op.create_table(
        "step_job_results",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("step", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("result", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["fed.step_jobs.id"], name=op.f("fk_step_job_results_job_id_step_jobs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "step", name=op.f("pk_step_job_results")),
        schema="fed",
    )
    op.create_table(
        "dimension_sets",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("dimensions", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dimension_sets")),
        sa.UniqueConstraint("name", "version", name=op.f("uq_dimension_sets_name_version")),
        schema="fed",
    )
    op.create_table(
        "likelihoods",
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("turns_left_out", sa.Integer(), nullable=False),
        sa.Column("context_nll", sa.Float(precision=53), nullable=True),
        sa.Column("predicted_tokens", sa.Integer(), nullable=False),
        sa.Column("nlls", postgresql.ARRAY(sa.Float(precision=53)), nullable=False),
        sa.Column("tokens", postgresql.ARRAY(sa.Integer()), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_likelihoods")),
        schema="fed",
    )
    op.create_table(
        "context_scores",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("bot", sa.String(length=100), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("turns_left_out", sa.Integer(), nullable=False),
        sa.Column("scores", postgresql.ARRAY(sa.Float(precision=53)), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["fed.step_jobs.id"], name=op.f("fk_context_scores_job_id_step_jobs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_context_scores")),
        sa.UniqueConstraint(
            "job_id", "conversation_id", "turn", name=op.f("uq_context_scores_job_id_conversation_id_turn")
        ),
        schema="fed",
    )
    op.create_index(op.f("ix_context_scores_job_id_id"), "context_scores", ["job_id", "id"], schema="fed")
    op.create_table(
        "rejected_conversations",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("reason", sa.String(length=1000), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"],
            ["fed.step_jobs.id"],
            name=op.f("fk_rejected_conversations_job_id_step_jobs"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("job_id", "conversation_id", name=op.f("pk_rejected_conversations")),
        schema="fed",
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
        schema="fed",
    )
    op.create_index("ix_idempotency_keys_created_at", "idempotency_keys", ["created_at"], unique=False, schema="fed")
    create_job_tables(op.get_bind(), "fed")
