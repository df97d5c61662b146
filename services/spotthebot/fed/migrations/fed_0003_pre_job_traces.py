"""The trace in which a job was queued: its row keeps it."""

from alembic import op

from spotthebot.kit.jobs.schema import add_job_traces

revision = "fed_0003"
down_revision = "fed_0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    add_job_traces(op.get_bind(), "fed")
