"""What an annotator gets for a package."""

import sqlalchemy as sa
from alembic import op

revision = "annotation_0007"
down_revision = "annotation_0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("campaigns", sa.Column("pay_per_package", sa.Numeric(9, 2), nullable=True), schema="annotation")
    op.add_column("campaigns", sa.Column("currency", sa.String(length=3), nullable=True), schema="annotation")
