"""An idempotency key may be claimed before its answer is known, with the id of what was created."""

import sqlalchemy as sa
from alembic import op

revision = "bots_0004"
down_revision = "bots_0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("idempotency_keys", sa.Column("created", sa.Uuid(), nullable=True), schema="bots")
