"""The trace in which an event happened, and that of the request that started a collection: their rows keep them."""

import sqlalchemy as sa
from alembic import op

revision = "conversations_0019"
down_revision = "conversations_0018"
branch_labels = None
depends_on = None

_SCHEMA = "conversations"


def upgrade() -> None:
    op.add_column("events", sa.Column("trace", sa.Text()), schema=_SCHEMA)
    op.add_column("collections", sa.Column("trace", sa.Text()), schema=_SCHEMA)
