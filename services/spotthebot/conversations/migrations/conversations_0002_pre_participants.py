"""Conversations by who takes part."""

from alembic import op

revision = "conversations_0002"
down_revision = "conversations_0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(
        "ix_conversations_participants",
        "conversations",
        ["participants"],
        schema="conversations",
        postgresql_using="gin",
        postgresql_ops={"participants": "jsonb_path_ops"},
    )
