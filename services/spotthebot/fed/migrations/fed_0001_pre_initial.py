"""Create the first tables of `fed`."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from spotthebot.kit.events.schema import create_event_tables
from spotthebot.kit.jobs.schema import create_job_tables
from spotthebot.kit.step_jobs.schema import create_step_job_tables
from spotthebot.kit.web.database.schema import create_idempotency_table

revision = "fed_0001"
down_revision = None
branch_labels = None
depends_on = None

_SCHEMA = "fed"
_JSON = postgresql.JSONB()
_MOMENT = sa.DateTime(timezone=True)
_NOW = sa.text("now()")


def upgrade() -> None:
    create_step_job_tables(_SCHEMA)
    op.create_table(
        "dimension_sets",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("dimensions", _JSON, nullable=False),
        sa.Column("created_at", _MOMENT, server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_dimension_sets"),
        sa.UniqueConstraint("name", "version", name="uq_dimension_sets_name_version"),
        schema=_SCHEMA,
    )
    op.create_table(
        "likelihoods",
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("turns_left_out", sa.Integer(), nullable=False),
        sa.Column("context_nll", sa.Double()),
        sa.Column("predicted_tokens", sa.Integer(), nullable=False),
        sa.Column("nlls", postgresql.ARRAY(sa.Double()), nullable=False),
        sa.Column("tokens", postgresql.ARRAY(sa.Integer()), nullable=False),
        sa.Column("last_used_at", _MOMENT, server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_likelihoods"),
        schema=_SCHEMA,
    )
    op.create_index("ix_likelihoods_last_used_at", "likelihoods", ["last_used_at"], schema=_SCHEMA)
    op.create_table(
        "context_scores",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("bot", sa.String(100), nullable=False),
        sa.Column("text_hash", sa.LargeBinary()),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("turns_left_out", sa.Integer(), nullable=False),
        sa.Column("scores", postgresql.ARRAY(sa.Double()), nullable=False),
        sa.Column("created_at", _MOMENT, server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_context_scores"),
        sa.ForeignKeyConstraint(
            ["job_id"], ["fed.step_jobs.id"], name="fk_context_scores_job_id_step_jobs", ondelete="CASCADE"
        ),
        sa.UniqueConstraint("job_id", "conversation_id", "turn", name="uq_context_scores_job_id_conversation_id_turn"),
        schema=_SCHEMA,
    )
    op.create_index("ix_context_scores_job_id_id", "context_scores", ["job_id", "id"], schema=_SCHEMA)
    op.create_table(
        "rejected_conversations",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("reason", sa.String(1000), nullable=False),
        sa.PrimaryKeyConstraint("job_id", "conversation_id", name="pk_rejected_conversations"),
        sa.ForeignKeyConstraint(
            ["job_id"], ["fed.step_jobs.id"], name="fk_rejected_conversations_job_id_step_jobs", ondelete="CASCADE"
        ),
        schema=_SCHEMA,
    )
    create_event_tables(_SCHEMA)
    create_idempotency_table(_SCHEMA)
    create_job_tables(op.get_bind(), _SCHEMA)
