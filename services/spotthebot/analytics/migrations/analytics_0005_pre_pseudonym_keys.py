"""Each campaign has a key for the pseudonyms of its bots."""

import sqlalchemy as sa
from alembic import op

revision = "analytics_0005"
down_revision = "analytics_0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    drawn = sa.text("(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))")
    op.create_table(
        "pseudonym_keys",
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.LargeBinary(), server_default=drawn, nullable=False),
        sa.PrimaryKeyConstraint("campaign_id", name=op.f("pk_pseudonym_keys")),
        schema="analytics",
    )
