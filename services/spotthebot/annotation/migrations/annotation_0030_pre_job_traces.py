"""The trace in which a job was queued: its row keeps it."""

from alembic import op

from spotthebot.kit.jobs.schema import add_job_traces

revision = "annotation_0030"
down_revision = "annotation_0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    add_job_traces(op.get_bind(), "annotation")
