"""Analyses and their steps are step jobs and their results, as every service names them."""

from alembic import op

revision = "analytics_0002"
down_revision = "analytics_0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for statement in (
        "ALTER TABLE analytics.analyses RENAME TO step_jobs",
        "ALTER TABLE analytics.step_jobs RENAME COLUMN campaign_id TO subject_id",
        "ALTER TABLE analytics.step_jobs RENAME COLUMN counts TO inputs",
        "ALTER TABLE analytics.step_jobs RENAME COLUMN data_sha256 TO fingerprint",
        "ALTER TABLE analytics.step_jobs ADD COLUMN run_id uuid",
        "ALTER TABLE analytics.step_jobs RENAME CONSTRAINT pk_analyses TO pk_step_jobs",
        "ALTER INDEX analytics.ix_analyses_campaign_id_kind_id RENAME TO ix_step_jobs_subject_id_kind_id",
        "ALTER TABLE analytics.analysis_steps RENAME TO step_job_results",
        "ALTER TABLE analytics.step_job_results RENAME COLUMN analysis_id TO job_id",
        "ALTER TABLE analytics.step_job_results RENAME CONSTRAINT pk_analysis_steps TO pk_step_job_results",
    ):
        op.execute(statement)
    op.execute(
        "ALTER TABLE analytics.step_job_results"
        " RENAME CONSTRAINT fk_analysis_steps_analysis_id_analyses TO fk_step_job_results_job_id_step_jobs"
    )
    op.execute(
        "UPDATE analytics.procrastinate_jobs SET args = jsonb_build_object('job_id', args->'analysis_id')"
        " WHERE task_name = 'analytics:run_analysis'"
    )
