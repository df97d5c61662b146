"""The trace in which an event happened: its row keeps it."""

import sqlalchemy as sa
from alembic import op

revision = "fed_0004"
down_revision = "fed_0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("events", sa.Column("trace", sa.Text()), schema="fed")
