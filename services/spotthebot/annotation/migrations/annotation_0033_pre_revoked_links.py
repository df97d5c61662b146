"""Entry links can be revoked, and can ask for ids that the panel signed."""

import sqlalchemy as sa
from alembic import op

revision = "annotation_0033"
down_revision = "annotation_0032"
branch_labels = None
depends_on = None

_SCHEMA = "annotation"


def upgrade() -> None:
    op.add_column("entry_links", sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True), schema=_SCHEMA)
    op.add_column(
        "entry_links",
        sa.Column("signed_ids", sa.Boolean(), server_default="false", nullable=False),
        schema=_SCHEMA,
    )
    op.create_index(op.f("ix_entry_links_campaign_id_id"), "entry_links", ["campaign_id", "id"], schema=_SCHEMA)
    op.create_index(op.f("ix_entries_link_id"), "entries", ["link_id"], schema=_SCHEMA)
