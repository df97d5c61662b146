"""Hashes of those who chatted in a conversation, who do not see it as annotators; appeals against blocks."""

import sqlalchemy as sa
from alembic import op

revision = "annotation_0017"
down_revision = "annotation_0016"
branch_labels = None
depends_on = None

_SCHEMA = "annotation"


def upgrade() -> None:
    op.add_column("campaigns", sa.Column("interactor_salt", sa.LargeBinary(), nullable=True), schema=_SCHEMA)
    op.add_column(
        "shown_conversations", sa.Column("interactor_sha256", sa.LargeBinary(), nullable=True), schema=_SCHEMA
    )
    op.create_index(
        "ix_shown_conversations_campaign_id_interactor_sha256",
        "shown_conversations",
        ["campaign_id", "interactor_sha256"],
        schema=_SCHEMA,
    )
    op.add_column("annotators", sa.Column("appeal", sa.Text(), nullable=True), schema=_SCHEMA)
    op.add_column("annotators", sa.Column("appealed_at", sa.DateTime(timezone=True), nullable=True), schema=_SCHEMA)
