"""Panels, entry links and consent."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "annotation_0013"
down_revision = "annotation_0012"
branch_labels = None
depends_on = None

_SCHEMA = "annotation"


def upgrade() -> None:
    op.add_column("campaigns", sa.Column("consent", sa.Text(), server_default="", nullable=False), schema=_SCHEMA)
    op.add_column("campaigns", sa.Column("panel", postgresql.JSONB(), nullable=True), schema=_SCHEMA)
    op.add_column("annotators", sa.Column("consent_sha256", sa.String(length=64), nullable=True), schema=_SCHEMA)
    for name in ("consented_at", "consent_withdrawn_at"):
        op.add_column("annotators", sa.Column(name, sa.DateTime(timezone=True), nullable=True), schema=_SCHEMA)
    op.create_table(
        "entry_links",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("frontend", sa.String(length=200), nullable=True),
        sa.Column("annotator", sa.String(length=200), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("max_annotators", sa.Integer(), nullable=True),
        sa.Column("annotators", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["annotation.campaigns.id"], name="fk_entry_links_campaign_id_campaigns"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_entry_links"),
        schema=_SCHEMA,
    )
    op.create_table(
        "entries",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("annotator_id", sa.Uuid(), nullable=False),
        sa.Column("link_id", sa.Uuid(), nullable=False),
        sa.Column("parameters", postgresql.JSONB(), nullable=False),
        sa.Column("entered_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["annotator_id"], ["annotation.annotators.id"], name="fk_entries_annotator_id_annotators"
        ),
        sa.ForeignKeyConstraint(["link_id"], ["annotation.entry_links.id"], name="fk_entries_link_id_entry_links"),
        sa.PrimaryKeyConstraint("id", name="pk_entries"),
        sa.UniqueConstraint("annotator_id", "link_id", "parameters", name="uq_entries_annotator_id_link_id_parameters"),
        schema=_SCHEMA,
    )
