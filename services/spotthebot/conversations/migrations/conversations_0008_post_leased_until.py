"""A delivery is leased to a dispatcher."""

from alembic import op

revision = "conversations_0008"
down_revision = "conversations_0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.alter_column("deliveries", "held_until", new_column_name="leased_until", schema="conversations")
