"""The tables of step jobs, for a service's own schema."""

from dataclasses import dataclass

from sqlalchemy import Column, DateTime, ForeignKey, Index, Integer, MetaData, String, Table, Uuid, func
from sqlalchemy.dialects.postgresql import JSONB


@dataclass(frozen=True)
class StepJobTables:
    """The two tables of step jobs: the jobs, and the results of their steps."""

    jobs: Table
    results: Table


def step_job_tables(metadata: MetaData) -> StepJobTables:
    """Add the tables `step_jobs` and `step_job_results` to the metadata of a service."""
    jobs = Table(
        "step_jobs",
        metadata,
        Column("id", Uuid, primary_key=True),
        Column("kind", String(20), nullable=False),
        Column("subject_id", Uuid),
        Column("request", JSONB, nullable=False),
        Column("state", String(20), nullable=False),
        Column("failure", String(1000)),
        Column("steps", Integer, nullable=False),
        Column("inputs", JSONB),
        Column("fingerprint", String(64)),
        Column("version", String(50), nullable=False),
        Column("run_id", Uuid),
        Column("result", JSONB),
        Column("created_at", DateTime(timezone=True), server_default=func.now(), nullable=False),
        Column("finished_at", DateTime(timezone=True)),
        Index(None, "subject_id", "kind", "id"),
    )
    results = Table(
        "step_job_results",
        metadata,
        Column("job_id", Uuid, ForeignKey(jobs.c.id, ondelete="CASCADE"), primary_key=True),
        Column("step", Integer, primary_key=True, autoincrement=False),
        Column("result", JSONB, nullable=False),
    )
    return StepJobTables(jobs, results)
