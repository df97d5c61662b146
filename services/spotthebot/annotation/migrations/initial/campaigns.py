"""The tables of campaigns, protocols, trainings, packages and shown conversations."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

_SCHEMA = "annotation"
_JSON = postgresql.JSONB()
_MOMENT = sa.DateTime(timezone=True)
_NOW = sa.text("now()")
_DRAWN = sa.text("(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))")


def create_tables() -> None:
    """Create the tables, referenced tables first."""
    op.create_table(
        "protocols",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(50), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("document", _JSON, nullable=False),
        sa.Column("created_at", _MOMENT, server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_protocols"),
        sa.UniqueConstraint("name", "version", name="uq_protocols_name_version"),
        schema=_SCHEMA,
    )
    op.create_table(
        "trainings",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(50), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("document", _JSON, nullable=False),
        sa.Column("created_at", _MOMENT, server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_trainings"),
        sa.UniqueConstraint("name", "version", name="uq_trainings_name_version"),
        schema=_SCHEMA,
    )
    op.create_table(
        "judges",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(50), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("settings", _JSON, nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("created_at", _MOMENT, server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_judges"),
        sa.UniqueConstraint("name", "version", name="uq_judges_name_version"),
        sa.UniqueConstraint("name", "sha256", name="uq_judges_name_sha256"),
        schema=_SCHEMA,
    )
    op.create_table(
        "campaigns",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("domain", sa.String(50), nullable=False),
        sa.Column("collection_id", sa.Uuid(), nullable=False),
        sa.Column("more_collections", postgresql.ARRAY(sa.Uuid()), server_default="{}", nullable=False),
        sa.Column("human_share", sa.Double()),
        sa.Column("mode", sa.String(20), nullable=False),
        sa.Column("protocol_name", sa.String(100), server_default="spot_the_bot", nullable=False),
        sa.Column("protocol_version", sa.Integer(), server_default="1", nullable=False),
        sa.Column("segments", postgresql.ARRAY(sa.Integer()), nullable=False),
        sa.Column("annotations_per_segment", sa.Integer(), nullable=False),
        sa.Column("judge_annotations_per_segment", sa.Integer(), server_default="1", nullable=False),
        sa.Column("pairs", sa.String(20), server_default="any", nullable=False),
        sa.Column("units_twice", sa.Integer()),
        sa.Column("headline", sa.Text()),
        sa.Column("margin", sa.Double()),
        sa.Column("stop_when", _JSON),
        sa.Column("stopped_at", _MOMENT),
        sa.Column("decided_pairs", sa.Integer(), server_default="0", nullable=False),
        sa.Column("package_size", sa.Integer(), nullable=False),
        sa.Column("packages_per_annotator", sa.Integer()),
        sa.Column("lease_seconds", sa.Integer(), server_default="3600", nullable=False),
        sa.Column("instructions", sa.Text(), nullable=False),
        sa.Column("consent", sa.Text(), server_default="", nullable=False),
        sa.Column("panel", _JSON),
        sa.Column("training", _JSON),
        sa.Column("gold", _JSON),
        sa.Column("max_strikes", sa.Integer()),
        sa.Column("min_seconds_per_item", sa.Double()),
        sa.Column("min_fraction_of_median", sa.Double()),
        sa.Column("strike_fast_packages", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("pay_per_package", sa.Numeric(9, 2)),
        sa.Column("currency", sa.String(3)),
        sa.Column("opens_when_built", sa.Boolean(), server_default="true", nullable=False),
        sa.Column("created_at", _MOMENT, server_default=_NOW, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("built_at", _MOMENT),
        sa.Column("closed_at", _MOMENT),
        sa.Column("released_at", _MOMENT),
        sa.Column("published_at", _MOMENT),
        sa.Column("failure", sa.Text()),
        sa.Column("secret", sa.LargeBinary()),
        sa.Column("pseudonym_key", sa.LargeBinary(), server_default=_DRAWN, nullable=False),
        sa.Column("annotators_published", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("interactor_salt", sa.LargeBinary()),
        sa.Column("too_short", sa.Integer()),
        sa.Column("not_selected", sa.Integer()),
        sa.Column("unpaired", sa.Integer()),
        sa.Column("packages", sa.Integer(), server_default="0", nullable=False),
        sa.Column("items", sa.Integer(), server_default="0", nullable=False),
        sa.Column("extra_assignments", sa.Integer(), server_default="0", nullable=False),
        sa.Column("extra_annotations", sa.Integer(), server_default="0", nullable=False),
        sa.Column("annotations", sa.Integer(), server_default="0", nullable=False),
        sa.Column("submitted", sa.Integer(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_campaigns"),
        schema=_SCHEMA,
    )
    op.create_table(
        "shown_conversations",
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("external_id", sa.String(200)),
        sa.Column("opening", _JSON, nullable=False),
        sa.Column("turns", _JSON, nullable=False),
        sa.Column("interactor_sha256", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("campaign_id", "conversation_id", name="pk_shown_conversations"),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["annotation.campaigns.id"], name="fk_shown_conversations_campaign_id_campaigns"
        ),
        sa.UniqueConstraint("campaign_id", "external_id", name="uq_shown_conversations_campaign_id_external_id"),
        schema=_SCHEMA,
    )
    op.create_index(
        "ix_shown_conversations_campaign_id_interactor_sha256",
        "shown_conversations",
        ["campaign_id", "interactor_sha256"],
        schema=_SCHEMA,
    )
    op.create_table(
        "packages",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("external_id", sa.String(200)),
        sa.Column("block", sa.Integer()),
        sa.Column("extra_annotators", sa.Integer(), server_default="0", nullable=False),
        sa.Column("slots_left", sa.Integer(), server_default="0", nullable=False),
        sa.Column("undecided_items", sa.Integer(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_packages"),
        sa.CheckConstraint("slots_left >= 0", name=op.f("ck_packages_slots_left_not_negative")),
        sa.ForeignKeyConstraint(["campaign_id"], ["annotation.campaigns.id"], name="fk_packages_campaign_id_campaigns"),
        sa.UniqueConstraint("campaign_id", "external_id", name="uq_packages_campaign_id_external_id"),
        schema=_SCHEMA,
    )
    op.create_index("ix_packages_campaign_id", "packages", ["campaign_id"], schema=_SCHEMA)
    op.create_index(
        "ix_packages_claimable",
        "packages",
        ["campaign_id", sa.text("undecided_items DESC"), "id"],
        schema=_SCHEMA,
        postgresql_where=sa.text("slots_left > 0"),
    )
    op.create_table(
        "items",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("package_id", sa.Uuid(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("exchanges", sa.Integer(), nullable=False),
        sa.Column("right_conversation_id", sa.Uuid()),
        sa.Column("right_exchanges", sa.Integer()),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("speakers", sa.Text(), nullable=False),
        sa.Column("text_hash", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("id", name="pk_items"),
        sa.CheckConstraint(
            "(right_conversation_id IS NULL) = (right_exchanges IS NULL) AND right_conversation_id <> conversation_id",
            name=op.f("ck_items_right_conversation_is_another"),
        ),
        sa.ForeignKeyConstraint(
            ["campaign_id", "conversation_id"],
            ["annotation.shown_conversations.campaign_id", "annotation.shown_conversations.conversation_id"],
            name="fk_items_campaign_id_conversation_id_shown_conversations",
        ),
        sa.ForeignKeyConstraint(
            ["campaign_id", "right_conversation_id"],
            ["annotation.shown_conversations.campaign_id", "annotation.shown_conversations.conversation_id"],
            name="right_conversation",
        ),
        sa.ForeignKeyConstraint(["package_id"], ["annotation.packages.id"], name="fk_items_package_id_packages"),
        sa.UniqueConstraint(
            "campaign_id", "conversation_id", "exchanges", name="uq_items_campaign_id_conversation_id_exchanges"
        ),
        sa.UniqueConstraint("package_id", "position", name="uq_items_package_id_position"),
        schema=_SCHEMA,
    )
    op.create_index(
        "ix_items_right_conversation",
        "items",
        ["campaign_id", "right_conversation_id"],
        schema=_SCHEMA,
        unique=True,
        postgresql_where=sa.text("right_conversation_id IS NOT NULL"),
    )
    op.create_table(
        "audit_log",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("key_id", sa.Uuid(), nullable=False),
        sa.Column("action", sa.String(50), nullable=False),
        sa.Column("annotator_id", sa.Uuid()),
        sa.Column("details", _JSON, nullable=False),
        sa.Column("at", _MOMENT, server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit_log"),
        schema=_SCHEMA,
    )
    op.create_index("ix_audit_log_campaign_id_id", "audit_log", ["campaign_id", "id"], schema=_SCHEMA)
