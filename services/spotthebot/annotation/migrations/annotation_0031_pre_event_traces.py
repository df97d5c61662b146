"""The trace in which an event happened: its row keeps it."""

import sqlalchemy as sa
from alembic import op

revision = "annotation_0031"
down_revision = "annotation_0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("events", sa.Column("trace", sa.Text()), schema="annotation")
