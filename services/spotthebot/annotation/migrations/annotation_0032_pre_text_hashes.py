"""Items keep a hash of the words that they show, so that conversations of one text are told."""

import sqlalchemy as sa
from alembic import op

revision = "annotation_0032"
down_revision = "annotation_0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("items", sa.Column("text_hash", sa.LargeBinary()), schema="annotation")
