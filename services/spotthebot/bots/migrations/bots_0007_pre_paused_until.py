"""A bot's server may want no request before some time: all processes keep to it."""

import sqlalchemy as sa
from alembic import op

revision = "bots_0007"
down_revision = "bots_0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("bots", sa.Column("paused_until", sa.DateTime(timezone=True)), schema="bots")
