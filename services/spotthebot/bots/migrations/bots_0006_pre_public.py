"""The owner of a bot says whether other teams see its name in results."""

import sqlalchemy as sa
from alembic import op

revision = "bots_0006"
down_revision = "bots_0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    public: sa.Column[bool] = sa.Column("public", sa.Boolean(), server_default="false", nullable=False)
    op.add_column("bots", public, schema="bots")
