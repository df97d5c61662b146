"""The openings of gold items, whose exchanges can be opened one by one."""

import sqlalchemy as sa
from alembic import op

revision = "annotation_0025"
down_revision = "annotation_0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "gold_items", sa.Column("opening", sa.Integer(), server_default="0", nullable=False), schema="annotation"
    )
