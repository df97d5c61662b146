"""Results that were kept with ids of annotators are deleted; they are computed again on request."""

from alembic import op

revision = "analytics_0004"
down_revision = "analytics_0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("DELETE FROM analytics.results")
