"""What the allocation of a campaign's conversations leaves: its secret, the number left out, the blocks."""

import sqlalchemy as sa
from alembic import op

revision = "annotation_0004"
down_revision = "annotation_0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("campaigns", sa.Column("secret", sa.LargeBinary(), nullable=True), schema="annotation")
    op.add_column("campaigns", sa.Column("too_short", sa.Integer(), nullable=True), schema="annotation")
    op.add_column("packages", sa.Column("block", sa.Integer(), nullable=True), schema="annotation")
