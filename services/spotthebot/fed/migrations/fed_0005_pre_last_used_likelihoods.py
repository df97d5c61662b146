"""Likelihoods have the time of their last use, after which they are deleted."""

import sqlalchemy as sa
from alembic import op

revision = "fed_0005"
down_revision = "fed_0004"
branch_labels = None
depends_on = None

_SCHEMA = "fed"


def upgrade() -> None:
    last_used_at = sa.Column(
        "last_used_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
    )
    op.add_column("likelihoods", last_used_at, schema=_SCHEMA)
    op.create_index("ix_likelihoods_last_used_at", "likelihoods", ["last_used_at"], schema=_SCHEMA)
