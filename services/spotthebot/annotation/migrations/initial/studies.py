"""The tables of studies."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

_SCHEMA = "annotation"


def create_tables() -> None:
    """Create the tables, referenced tables first."""
    op.create_table(
        "studies",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("chats", postgresql.ARRAY(sa.Uuid()), nullable=False),
        sa.Column("outcome", sa.Text()),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("scores", postgresql.ARRAY(sa.Uuid()), nullable=False),
        sa.Column("latency", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_studies"),
        sa.UniqueConstraint("name", name="uq_studies_name"),
        schema=_SCHEMA,
    )
    op.create_table(
        "study_campaigns",
        sa.Column("study_id", sa.Uuid(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("study_id", "campaign_id", name="pk_study_campaigns"),
        sa.ForeignKeyConstraint(
            ["campaign_id"],
            ["annotation.campaigns.id"],
            name="fk_study_campaigns_campaign_id_campaigns",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["study_id"], ["annotation.studies.id"], name="fk_study_campaigns_study_id_studies", ondelete="CASCADE"
        ),
        schema=_SCHEMA,
    )
    op.create_index("ix_study_campaigns_campaign_id", "study_campaigns", ["campaign_id"], schema=_SCHEMA)
