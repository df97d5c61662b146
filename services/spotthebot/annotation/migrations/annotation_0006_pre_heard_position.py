"""Which item was on the annotator's screen when they were last heard of."""

import sqlalchemy as sa
from alembic import op

revision = "annotation_0006"
down_revision = "annotation_0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("assignments", sa.Column("heard_position", sa.Integer(), nullable=True), schema="annotation")
