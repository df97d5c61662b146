"""Links into chats that were revoked."""

import sqlalchemy as sa
from alembic import op

revision = "conversations_0018"
down_revision = "conversations_0017"
branch_labels = None
depends_on = None

_SCHEMA = "conversations"


def upgrade() -> None:
    op.create_table(
        "revoked_links",
        sa.Column("collection_id", sa.Uuid(), nullable=False),
        sa.Column("link", sa.String(length=200), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["conversations.collections.id"], name=op.f("fk_revoked_links_collection_id_collections")
        ),
        sa.PrimaryKeyConstraint("collection_id", "link", name=op.f("pk_revoked_links")),
        schema=_SCHEMA,
    )
