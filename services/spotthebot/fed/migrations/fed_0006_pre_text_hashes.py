"""Scores have a hash of their conversation's words, so that conversations of one text are known."""

import sqlalchemy as sa
from alembic import op

revision = "fed_0006"
down_revision = "fed_0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("context_scores", sa.Column("text_hash", sa.LargeBinary()), schema="fed")
