"""When a corpus was removed: nobody sees it any more, and a job deletes its dialogues."""

import sqlalchemy as sa
from alembic import op

revision = "conversations_0016"
down_revision = "conversations_0015"
branch_labels = None
depends_on = None

_SCHEMA = "conversations"


def upgrade() -> None:
    op.add_column("corpora", sa.Column("removed_at", sa.DateTime(timezone=True), nullable=True), schema=_SCHEMA)
