"""The trace in which a job was queued: its row keeps it."""

from alembic import op

from spotthebot.kit.jobs.schema import add_job_traces

revision = "analytics_0006"
down_revision = "analytics_0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    add_job_traces(op.get_bind(), "analytics")
