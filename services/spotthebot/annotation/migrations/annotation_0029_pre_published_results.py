"""An operator publishes the results of a campaign: everybody sees them, without a key."""

import sqlalchemy as sa
from alembic import op

revision = "annotation_0029"
down_revision = "annotation_0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    published_at = sa.Column("published_at", sa.DateTime(timezone=True), nullable=True)
    op.add_column("campaigns", published_at, schema="annotation")
