"""Bonuses of annotators."""

import sqlalchemy as sa
from alembic import op

revision = "annotation_0018"
down_revision = "annotation_0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "bonuses",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("annotator_id", sa.Uuid(), nullable=False),
        sa.Column("amount", sa.Numeric(9, 2), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("key_id", sa.Uuid(), nullable=False),
        sa.Column("granted_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("amount > 0", name="amount_positive"),
        sa.ForeignKeyConstraint(
            ["annotator_id"], ["annotation.annotators.id"], name="fk_bonuses_annotator_id_annotators"
        ),
        sa.ForeignKeyConstraint(["campaign_id"], ["annotation.campaigns.id"], name="fk_bonuses_campaign_id_campaigns"),
        sa.PrimaryKeyConstraint("id", name="pk_bonuses"),
        schema="annotation",
    )
    op.create_index("ix_bonuses_annotator_id", "bonuses", ["annotator_id"], schema="annotation")
    op.create_index("ix_bonuses_campaign_id_id", "bonuses", ["campaign_id", "id"], schema="annotation")
