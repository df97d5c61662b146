"""The tables of collections, conversations and the turn loop."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

_SCHEMA = "conversations"
_JSON = postgresql.JSONB()
_MOMENT = sa.DateTime(timezone=True)
_NOW = sa.text("now()")
_DRAWN = sa.text("(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))")


def create_tables() -> None:
    """Create the tables, referenced tables first."""
    op.create_table(
        "partner_sets",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("description", sa.String(2000), nullable=False),
        sa.Column("partners", _JSON, nullable=False),
        sa.Column("created_at", _MOMENT, server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_partner_sets"),
        sa.UniqueConstraint("name", "version", name="uq_partner_sets_name_version"),
        schema=_SCHEMA,
    )
    op.create_table(
        "collections",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("domain", sa.String(50), nullable=False),
        sa.Column("mode", sa.String(20), nullable=False),
        sa.Column("plan", _JSON, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("priority", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("bots", postgresql.ARRAY(sa.Uuid()), server_default="{}", nullable=False),
        sa.Column("conversations", sa.Integer(), server_default="0", nullable=False),
        sa.Column("complete", sa.Integer(), server_default="0", nullable=False),
        sa.Column("failed", sa.Integer(), server_default="0", nullable=False),
        sa.Column("cancelled", sa.Integer(), server_default="0", nullable=False),
        sa.Column("turns", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("turns_planned", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("created_at", _MOMENT, server_default=_NOW, nullable=False),
        sa.Column("finished_at", _MOMENT),
        sa.Column("trace", sa.Text()),
        sa.Column("pseudonym_key", sa.LargeBinary(), server_default=_DRAWN, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_collections"),
        schema=_SCHEMA,
    )
    op.create_index(
        "ix_collections_priority_id",
        "collections",
        ["priority", "id"],
        schema=_SCHEMA,
        postgresql_where=sa.text("state = 'collecting'"),
    )
    op.create_table(
        "turn_counts",
        sa.Column("collection_id", sa.Uuid(), nullable=False),
        sa.Column("begins_at", _MOMENT, nullable=False),
        sa.Column("turns", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("collection_id", "begins_at", name="pk_turn_counts"),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["conversations.collections.id"], name="fk_turn_counts_collection_id_collections"
        ),
        schema=_SCHEMA,
    )
    op.create_table(
        "pairs",
        sa.Column("collection_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("participants", _JSON, nullable=False),
        sa.PrimaryKeyConstraint("collection_id", "number", name="pk_pairs"),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["conversations.collections.id"], name="fk_pairs_collection_id_collections"
        ),
        schema=_SCHEMA,
    )
    op.create_index(
        "ix_pairs_participants",
        "pairs",
        ["participants"],
        schema=_SCHEMA,
        postgresql_using="gin",
        postgresql_ops={"participants": "jsonb_path_ops"},
    )
    op.create_table(
        "conversations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("collection_id", sa.Uuid(), nullable=False),
        sa.Column("pair", sa.Integer(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("external_id", sa.String(200)),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("ended_by", sa.String(20)),
        sa.Column("failure", sa.String(1000)),
        sa.Column("opening", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("opening_shown", sa.Boolean(), nullable=False),
        sa.Column("personas", postgresql.ARRAY(sa.Text())),
        sa.Column("turns_planned", sa.Integer(), nullable=False),
        sa.Column("turns_said", sa.Integer(), server_default="0", nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("next_bot", sa.Uuid()),
        sa.Column("runner_job_id", sa.BigInteger()),
        sa.Column("not_before", _MOMENT),
        sa.Column("attempts", sa.SmallInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_conversations"),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["conversations.collections.id"], name="fk_conversations_collection_id_collections"
        ),
        sa.ForeignKeyConstraint(
            ["collection_id", "pair"],
            ["conversations.pairs.collection_id", "conversations.pairs.number"],
            name="fk_conversations_collection_id_pairs",
        ),
        sa.UniqueConstraint("collection_id", "external_id", name="uq_conversations_collection_id_external_id"),
        schema=_SCHEMA,
        postgresql_with={"fillfactor": 80},
    )
    op.create_index(
        "ix_conversations_claimed",
        "conversations",
        ["runner_job_id", "collection_id"],
        schema=_SCHEMA,
        postgresql_where=sa.text("runner_job_id IS NOT NULL"),
    )
    op.create_index("ix_conversations_collection_id_id", "conversations", ["collection_id", "id"], schema=_SCHEMA)
    op.create_index(
        "ix_conversations_collection_id_pair_state", "conversations", ["collection_id", "pair", "state"], schema=_SCHEMA
    )
    op.create_index(
        "ix_conversations_waiting",
        "conversations",
        ["collection_id", "next_bot", "round", "id"],
        schema=_SCHEMA,
        postgresql_where=sa.text("state = 'running' AND runner_job_id IS NULL AND next_bot IS NOT NULL"),
    )
    op.create_table(
        "turns",
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("raw", sa.Text()),
        sa.Column("latency_ms", sa.Double()),
        sa.Column("said_at", _MOMENT),
        sa.PrimaryKeyConstraint("conversation_id", "position", name="pk_turns"),
        sa.ForeignKeyConstraint(
            ["conversation_id"], ["conversations.conversations.id"], name="fk_turns_conversation_id_conversations"
        ),
        schema=_SCHEMA,
    )
    op.create_table(
        "concurrency_slots",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("bot_id", sa.Uuid(), nullable=False),
        sa.Column("job_id", sa.BigInteger(), nullable=False),
        sa.Column("slots", sa.Integer(), nullable=False),
        sa.Column("expires_at", _MOMENT, nullable=False),
        sa.Column("queued", sa.Boolean(), server_default="false", nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_concurrency_slots"),
        schema=_SCHEMA,
        prefixes=["UNLOGGED"],
    )
    op.create_index("ix_concurrency_slots_bot_id", "concurrency_slots", ["bot_id"], schema=_SCHEMA)
    op.create_table(
        "unavailable_bots",
        sa.Column("bot_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("reason", sa.String(1000), nullable=False),
        sa.Column("since", _MOMENT, server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("bot_id", name="pk_unavailable_bots"),
        schema=_SCHEMA,
    )
