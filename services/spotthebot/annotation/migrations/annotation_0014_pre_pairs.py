"""Items that show two conversations side by side."""

import sqlalchemy as sa
from alembic import op

revision = "annotation_0014"
down_revision = "annotation_0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("campaigns", sa.Column("unpaired", sa.Integer(), nullable=True), schema="annotation")
    op.add_column("items", sa.Column("right_conversation_id", sa.Uuid(), nullable=True), schema="annotation")
    op.add_column("items", sa.Column("right_exchanges", sa.Integer(), nullable=True), schema="annotation")
    op.create_foreign_key(
        "right_conversation",
        "items",
        "shown_conversations",
        ["campaign_id", "right_conversation_id"],
        ["campaign_id", "conversation_id"],
        source_schema="annotation",
        referent_schema="annotation",
    )
    op.create_index(
        "ix_items_right_conversation",
        "items",
        ["campaign_id", "right_conversation_id"],
        unique=True,
        schema="annotation",
        postgresql_where=sa.text("right_conversation_id IS NOT NULL"),
    )
    op.create_check_constraint(
        "right_conversation_is_another",
        "items",
        "(right_conversation_id IS NULL) = (right_exchanges IS NULL) AND right_conversation_id <> conversation_id",
        schema="annotation",
    )
