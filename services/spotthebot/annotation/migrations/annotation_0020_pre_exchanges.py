"""Exchanges that annotators open one by one, and how many were open when they decided."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "annotation_0020"
down_revision = "annotation_0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "answers",
        sa.Column("opened_at", postgresql.ARRAY(sa.DateTime(timezone=True)), server_default="{}", nullable=False),
        schema="annotation",
    )
    for table in ("answers", "annotations"):
        op.add_column(
            table,
            sa.Column("decisions", postgresql.JSONB(), server_default="[]", nullable=False),
            schema="annotation",
        )
