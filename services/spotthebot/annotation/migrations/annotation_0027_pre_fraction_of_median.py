"""Items that are fast beside the median of others' items."""

import sqlalchemy as sa
from alembic import op

revision = "annotation_0027"
down_revision = "annotation_0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("campaigns", sa.Column("min_fraction_of_median", sa.Float(), nullable=True), schema="annotation")
