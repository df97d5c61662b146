"""Creates the tables of step jobs in a service's first revision. Each service has its own later revisions of them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

_JSON = postgresql.JSONB()
_MOMENT = sa.DateTime(timezone=True)


def create_step_job_tables(schema: str) -> None:
    """Create the tables of step jobs and their results in a service's schema."""
    op.create_table(
        "step_jobs",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("subject_id", sa.Uuid()),
        sa.Column("request", _JSON, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("failure", sa.String(1000)),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.Column("inputs", _JSON),
        sa.Column("fingerprint", sa.String(64)),
        sa.Column("version", sa.String(50), nullable=False),
        sa.Column("run_id", sa.Uuid()),
        sa.Column("result", _JSON),
        sa.Column("created_at", _MOMENT, server_default=sa.text("now()"), nullable=False),
        sa.Column("finished_at", _MOMENT),
        sa.PrimaryKeyConstraint("id", name="pk_step_jobs"),
        schema=schema,
    )
    op.create_index("ix_step_jobs_subject_id_kind_id", "step_jobs", ["subject_id", "kind", "id"], schema=schema)
    op.create_table(
        "step_job_results",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("step", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("result", _JSON, nullable=False),
        sa.PrimaryKeyConstraint("job_id", "step", name="pk_step_job_results"),
        sa.ForeignKeyConstraint(
            ["job_id"], [f"{schema}.step_jobs.id"], name="fk_step_job_results_job_id_step_jobs", ondelete="CASCADE"
        ),
        schema=schema,
    )
