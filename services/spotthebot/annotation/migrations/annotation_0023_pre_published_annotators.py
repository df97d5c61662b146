"""Imports say whether the names of their annotators are public, as those of the published studies are."""

import sqlalchemy as sa
from alembic import op

revision = "annotation_0023"
down_revision = "annotation_0022"
branch_labels = None
depends_on = None

_SCHEMA = "annotation"


def upgrade() -> None:
    published: sa.Column[bool] = sa.Column("annotators_published", sa.Boolean(), server_default="false", nullable=False)
    op.add_column("campaigns", published, schema=_SCHEMA)
    # Only `./stb import` gave these names to campaigns, and it reads the published files alone.
    op.execute(
        """
        UPDATE annotation.campaigns SET annotators_published = true
        WHERE mode = 'import'
            AND name IN ('spot-the-bot-dailydialog', 'spot-the-bot-empathetic', 'spot-the-bot-convai2')
        """
    )
