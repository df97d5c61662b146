"""The trace in which a job was queued: its row keeps it."""

from alembic import op

from spotthebot.kit.jobs.schema import add_job_traces

revision = "conversations_0017"
down_revision = "conversations_0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    add_job_traces(op.get_bind(), "conversations")
