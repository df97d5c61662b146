"""Attempts at a training that were granted beyond those that the campaign gives everybody."""

import sqlalchemy as sa
from alembic import op

revision = "annotation_0022"
down_revision = "annotation_0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "annotators",
        sa.Column("granted_attempts", sa.Integer(), server_default="0", nullable=False),
        schema="annotation",
    )
