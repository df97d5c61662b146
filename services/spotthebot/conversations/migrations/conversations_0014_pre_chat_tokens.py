"""A chat has a token for the person's browser, of which the hash is kept."""

import sqlalchemy as sa
from alembic import op

revision = "conversations_0014"
down_revision = "conversations_0013"
branch_labels = None
depends_on = None

_SCHEMA = "conversations"


def upgrade() -> None:
    op.add_column("chats", sa.Column("token_sha256", sa.LargeBinary(), nullable=True), schema=_SCHEMA)
    op.add_column("chats", sa.Column("token_expires_at", sa.DateTime(timezone=True), nullable=True), schema=_SCHEMA)
