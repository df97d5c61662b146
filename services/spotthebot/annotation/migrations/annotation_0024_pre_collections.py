"""Campaigns over several collections, and their share of human-human conversations."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "annotation_0024"
down_revision = "annotation_0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for column in (
        sa.Column("more_collections", postgresql.ARRAY(sa.Uuid()), server_default="{}", nullable=False),
        sa.Column("human_share", sa.Float(), nullable=True),
        sa.Column("not_selected", sa.Integer(), nullable=True),
    ):
        op.add_column("campaigns", column, schema="annotation")
