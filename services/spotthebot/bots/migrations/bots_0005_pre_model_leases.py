"""A change of a hosted model holds a lease on its row instead of a lock."""

import sqlalchemy as sa
from alembic import op

revision = "bots_0005"
down_revision = "bots_0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("hosted_models", sa.Column("lease_id", sa.Uuid(), nullable=True), schema="bots")
    op.add_column("hosted_models", sa.Column("leased_until", sa.DateTime(timezone=True), nullable=True), schema="bots")
