"""Events are listed by position, no longer by id."""

from alembic import op

revision = "conversations_0013"
down_revision = "conversations_0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_index("ix_events_team_id", "events", schema="conversations")
