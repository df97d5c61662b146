"""The first tables."""

from alembic import op

from spotthebot.annotation.migrations.initial import annotators, append_only, assignments, campaigns, studies
from spotthebot.kit.events.schema import create_event_tables
from spotthebot.kit.jobs.schema import create_job_tables
from spotthebot.kit.web.database.schema import create_idempotency_table

revision = "annotation_0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    campaigns.create_tables()
    studies.create_tables()
    annotators.create_tables()
    assignments.create_tables()
    append_only.create_triggers()
    create_event_tables("annotation", team_length=200)
    create_idempotency_table("annotation")
    create_job_tables(op.get_bind(), "annotation")
