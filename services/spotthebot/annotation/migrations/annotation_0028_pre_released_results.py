"""An operator releases the results of a campaign to the teams whose bots take part."""

import sqlalchemy as sa
from alembic import op

revision = "annotation_0028"
down_revision = "annotation_0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    released_at = sa.Column("released_at", sa.DateTime(timezone=True), nullable=True)
    op.add_column("campaigns", released_at, schema="annotation")
