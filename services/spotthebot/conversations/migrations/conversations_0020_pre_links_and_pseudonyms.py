"""Chats know by which link their person came, and collections have a key for the pseudonyms of those who chat."""

import sqlalchemy as sa
from alembic import op

revision = "conversations_0020"
down_revision = "conversations_0019"
branch_labels = None
depends_on = None

_SCHEMA = "conversations"


def upgrade() -> None:
    op.add_column("chats", sa.Column("link", sa.String(length=200), nullable=True), schema=_SCHEMA)
    op.execute(
        """
        ALTER TABLE conversations.collections ADD COLUMN pseudonym_key bytea NOT NULL
        DEFAULT uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
        """
    )
