"""The tables of annotators: entries, trainings, payments, and conversations seen."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

_SCHEMA = "annotation"
_JSON = postgresql.JSONB()
_MOMENT = sa.DateTime(timezone=True)
_NOW = sa.text("now()")


def create_tables() -> None:
    """Create the tables, referenced tables first."""
    op.create_table(
        "annotators",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("frontend", sa.String(200), server_default="", nullable=False),
        sa.Column("external_id", sa.String(200), nullable=False),
        sa.Column("kind", sa.String(20), server_default="person", nullable=False),
        sa.Column("judge_id", sa.Uuid()),
        sa.Column("created_at", _MOMENT, server_default=_NOW, nullable=False),
        sa.Column("blocked_at", _MOMENT),
        sa.Column("blocked_reason", sa.Text()),
        sa.Column("appeal", sa.Text()),
        sa.Column("appealed_at", _MOMENT),
        sa.Column("erased_at", _MOMENT),
        sa.Column("consent_sha256", sa.String(64)),
        sa.Column("consented_at", _MOMENT),
        sa.Column("consent_withdrawn_at", _MOMENT),
        sa.Column("granted_attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("gold_right", sa.Integer(), server_default="0", nullable=False),
        sa.Column("gold_wrong", sa.Integer(), server_default="0", nullable=False),
        sa.Column("fast_items", sa.Integer(), server_default="0", nullable=False),
        sa.Column("fast_packages", sa.Integer(), server_default="0", nullable=False),
        sa.Column("strikes", sa.Integer(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_annotators"),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["annotation.campaigns.id"], name="fk_annotators_campaign_id_campaigns"
        ),
        sa.ForeignKeyConstraint(["judge_id"], ["annotation.judges.id"], name="fk_annotators_judge_id_judges"),
        sa.UniqueConstraint(
            "campaign_id", "external_id", "frontend", name="uq_annotators_campaign_id_external_id_frontend"
        ),
        schema=_SCHEMA,
    )
    op.create_table(
        "seen_conversations",
        sa.Column("annotator_id", sa.Uuid(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.PrimaryKeyConstraint("annotator_id", "conversation_id", name="pk_seen_conversations"),
        sa.ForeignKeyConstraint(
            ["annotator_id"], ["annotation.annotators.id"], name="fk_seen_conversations_annotator_id_annotators"
        ),
        schema=_SCHEMA,
    )
    op.create_table(
        "entry_links",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("frontend", sa.String(200)),
        sa.Column("annotator", sa.String(200)),
        sa.Column("expires_at", _MOMENT, nullable=False),
        sa.Column("max_annotators", sa.Integer()),
        sa.Column("signed_ids", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("annotators", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", _MOMENT, server_default=_NOW, nullable=False),
        sa.Column("revoked_at", _MOMENT),
        sa.PrimaryKeyConstraint("id", name="pk_entry_links"),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["annotation.campaigns.id"], name="fk_entry_links_campaign_id_campaigns"
        ),
        schema=_SCHEMA,
    )
    op.create_index("ix_entry_links_campaign_id_id", "entry_links", ["campaign_id", "id"], schema=_SCHEMA)
    op.create_table(
        "entries",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("annotator_id", sa.Uuid(), nullable=False),
        sa.Column("link_id", sa.Uuid(), nullable=False),
        sa.Column("parameters", _JSON, nullable=False),
        sa.Column("entered_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_entries"),
        sa.ForeignKeyConstraint(
            ["annotator_id"], ["annotation.annotators.id"], name="fk_entries_annotator_id_annotators"
        ),
        sa.ForeignKeyConstraint(["link_id"], ["annotation.entry_links.id"], name="fk_entries_link_id_entry_links"),
        sa.UniqueConstraint("annotator_id", "link_id", "parameters", name="uq_entries_annotator_id_link_id_parameters"),
        schema=_SCHEMA,
    )
    op.create_index("ix_entries_link_id", "entries", ["link_id"], schema=_SCHEMA)
    op.create_table(
        "training_attempts",
        sa.Column("annotator_id", sa.Uuid(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("started_at", _MOMENT, nullable=False),
        sa.Column("ended_at", _MOMENT),
        sa.PrimaryKeyConstraint("annotator_id", "attempt", name="pk_training_attempts"),
        sa.ForeignKeyConstraint(
            ["annotator_id"], ["annotation.annotators.id"], name="fk_training_attempts_annotator_id_annotators"
        ),
        schema=_SCHEMA,
    )
    op.create_table(
        "training_answers",
        sa.Column("annotator_id", sa.Uuid(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("answer", _JSON, nullable=False),
        sa.Column("mistakes", sa.Integer(), nullable=False),
        sa.Column("answered_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("annotator_id", "attempt", "position", name="pk_training_answers"),
        sa.ForeignKeyConstraint(
            ["annotator_id", "attempt"],
            ["annotation.training_attempts.annotator_id", "annotation.training_attempts.attempt"],
            name="fk_training_answers_annotator_id_attempt_training_attempts",
        ),
        schema=_SCHEMA,
    )
    op.create_table(
        "bonuses",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("annotator_id", sa.Uuid(), nullable=False),
        sa.Column("amount", sa.Numeric(9, 2), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("key_id", sa.Uuid(), nullable=False),
        sa.Column("granted_at", _MOMENT, nullable=False),
        sa.Column("occasion", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="pk_bonuses"),
        sa.UniqueConstraint("annotator_id", "occasion", name="uq_bonuses_annotator_id_occasion"),
        sa.CheckConstraint("amount > 0", name=op.f("ck_bonuses_amount_positive")),
        sa.ForeignKeyConstraint(
            ["annotator_id"], ["annotation.annotators.id"], name="fk_bonuses_annotator_id_annotators"
        ),
        sa.ForeignKeyConstraint(["campaign_id"], ["annotation.campaigns.id"], name="fk_bonuses_campaign_id_campaigns"),
        schema=_SCHEMA,
    )
    op.create_index("ix_bonuses_campaign_id_id", "bonuses", ["campaign_id", "id"], schema=_SCHEMA)
