"""Create the first tables of `analytics`."""

import sqlalchemy as sa
from alembic import op

from spotthebot.kit.jobs.schema import create_job_tables
from spotthebot.kit.step_jobs.schema import create_step_job_tables
from spotthebot.kit.web.database.schema import create_idempotency_table

revision = "analytics_0001"
down_revision = None
branch_labels = None
depends_on = None

_SCHEMA = "analytics"
_MOMENT = sa.DateTime(timezone=True)
_NOW = sa.text("now()")
_DRAWN = sa.text("(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))")


def upgrade() -> None:
    op.create_table(
        "pseudonym_keys",
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.LargeBinary(), server_default=_DRAWN, nullable=False),
        sa.PrimaryKeyConstraint("campaign_id", name="pk_pseudonym_keys"),
        schema=_SCHEMA,
    )
    op.create_table(
        "given_verdicts",
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("margin", sa.Float(53), nullable=False),
        sa.Column("bot", sa.Text(), nullable=False),
        sa.Column("other", sa.Text(), nullable=False),
        sa.Column("verdict", sa.String(20), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("low", sa.Float(53), nullable=False),
        sa.Column("high", sa.Float(53), nullable=False),
        sa.Column("given_at", _MOMENT, server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("campaign_id", "margin", "bot", "other", name="pk_given_verdicts"),
        schema=_SCHEMA,
    )
    op.create_table(
        "results",
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("subject_id", sa.Uuid(), nullable=False),
        sa.Column("revision", sa.String(200), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", _MOMENT, server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_results"),
        schema=_SCHEMA,
    )
    op.create_index("ix_results_subject_id_revision", "results", ["subject_id", "revision"], schema=_SCHEMA)
    create_step_job_tables(_SCHEMA)
    create_idempotency_table(_SCHEMA)
    create_job_tables(op.get_bind(), _SCHEMA)
