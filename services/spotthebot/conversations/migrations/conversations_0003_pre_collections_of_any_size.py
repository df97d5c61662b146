"""Collections with states and counts, pairs, claims on conversations, places at bots, partner sets."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "conversations_0003"
down_revision = "conversations_0002"
branch_labels = None
depends_on = None

_SCHEMA = "conversations"


def upgrade() -> None:
    _add_tables()
    _extend_collections()
    _extend_conversations()
    op.add_column("turns", sa.Column("raw", sa.Text()), schema=_SCHEMA)
    op.add_column("turns", sa.Column("said_at", sa.DateTime(timezone=True)), schema=_SCHEMA)


def _add_tables() -> None:
    op.create_table(
        "partner_sets",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("description", sa.String(length=2000), nullable=False),
        sa.Column("partners", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_partner_sets")),
        sa.UniqueConstraint("name", "version", name=op.f("uq_partner_sets_name_version")),
        schema=_SCHEMA,
    )
    op.create_table(
        "paces",
        sa.Column("collection_id", sa.Uuid(), nullable=False),
        sa.Column("begins_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("turns", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["conversations.collections.id"], name=op.f("fk_paces_collection_id_collections")
        ),
        sa.PrimaryKeyConstraint("collection_id", "begins_at", name=op.f("pk_paces")),
        schema=_SCHEMA,
    )
    op.create_table(
        "pairs",
        sa.Column("collection_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("participants", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["conversations.collections.id"], name=op.f("fk_pairs_collection_id_collections")
        ),
        sa.PrimaryKeyConstraint("collection_id", "number", name=op.f("pk_pairs")),
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
        "places",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("bot_id", sa.Uuid(), nullable=False),
        sa.Column("job_id", sa.BigInteger(), nullable=False),
        sa.Column("taken", sa.Integer(), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_places")),
        schema=_SCHEMA,
        prefixes=["UNLOGGED"],
    )
    op.create_index("ix_places_bot_id", "places", ["bot_id"], schema=_SCHEMA)
    op.create_table(
        "away_bots",
        sa.Column("bot_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("reason", sa.String(length=1000), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("bot_id", name=op.f("pk_away_bots")),
        schema=_SCHEMA,
    )


def _extend_collections() -> None:
    columns: tuple[sa.Column[Any], ...] = (
        sa.Column("state", sa.String(length=20), server_default="complete", nullable=False),
        sa.Column("priority", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("bots", postgresql.ARRAY(sa.Uuid()), server_default="{}", nullable=False),
        *(
            sa.Column(name, sa.Integer(), server_default="0", nullable=False)
            for name in ("conversations", "complete", "failed", "cancelled")
        ),
        sa.Column("turns", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("turns_wanted", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True)),
    )
    for column in columns:
        op.add_column("collections", column, schema=_SCHEMA)
    op.execute(
        """
        UPDATE conversations.collections AS c SET
            conversations = n.conversations, complete = n.complete, failed = n.failed, turns = n.turns,
            turns_wanted = n.turns_wanted, state = CASE WHEN n.running > 0 THEN 'collecting' ELSE 'complete' END,
            finished_at = CASE WHEN n.running > 0 THEN NULL ELSE c.created_at END,
            bots = COALESCE((
                SELECT array_agg(DISTINCT (side ->> 'bot_id')::uuid)
                FROM conversations.conversations, jsonb_array_elements(participants) AS side
                WHERE collection_id = c.id AND side ->> 'bot_id' IS NOT NULL
            ), '{}')
        FROM (
            SELECT collection_id, count(*) AS conversations, sum(turns_wanted) AS turns_wanted,
                count(*) FILTER (WHERE state = 'complete') AS complete,
                count(*) FILTER (WHERE state = 'failed') AS failed,
                count(*) FILTER (WHERE state = 'running') AS running,
                sum((SELECT count(*) FROM conversations.turns WHERE conversation_id = held.id)) AS turns
            FROM conversations.conversations AS held GROUP BY collection_id
        ) AS n
        WHERE n.collection_id = c.id
        """
    )
    op.create_index(
        "ix_collections_priority_id",
        "collections",
        ["priority", "id"],
        schema=_SCHEMA,
        postgresql_where=sa.text("state = 'collecting'"),
    )


def _extend_conversations() -> None:
    columns: tuple[sa.Column[Any], ...] = (
        sa.Column("pair", sa.Integer()),
        sa.Column("round", sa.Integer(), server_default="0", nullable=False),
        sa.Column("ended_by", sa.String(length=20)),
        sa.Column("turns_said", sa.Integer(), server_default="0", nullable=False),
        sa.Column("next_bot", sa.Uuid()),
        sa.Column("held_by", sa.BigInteger()),
        sa.Column("not_before", sa.DateTime(timezone=True)),
        sa.Column("attempts", sa.SmallInteger(), server_default="0", nullable=False),
    )
    for column in columns:
        op.add_column("conversations", column, schema=_SCHEMA)
    op.execute(
        """
        INSERT INTO conversations.pairs (collection_id, number, participants)
        SELECT collection_id, row_number() OVER (PARTITION BY collection_id ORDER BY min(id::text)) - 1, participants
        FROM conversations.conversations GROUP BY collection_id, participants
        """
    )
    op.execute(
        """
        UPDATE conversations.conversations AS c SET
            pair = p.number, turns_said = n.turns,
            ended_by = CASE WHEN c.state = 'complete' THEN 'exchanges' END,
            next_bot = CASE WHEN c.state = 'running'
                THEN (c.participants -> (n.turns::int % 2) ->> 'bot_id')::uuid END
        FROM conversations.pairs AS p, (
            SELECT id, (SELECT count(*) FROM conversations.turns WHERE conversation_id = held.id) AS turns
            FROM conversations.conversations AS held
        ) AS n
        WHERE p.collection_id = c.collection_id AND p.participants = c.participants AND n.id = c.id
        """
    )
    # The release before writes it, this one does not.
    op.alter_column("conversations", "participants", nullable=True, schema=_SCHEMA)
    op.create_foreign_key(
        "fk_conversations_collection_id_pairs",
        "conversations",
        "pairs",
        ["collection_id", "pair"],
        ["collection_id", "number"],
        source_schema=_SCHEMA,
        referent_schema=_SCHEMA,
    )
    op.create_index("ix_conversations_collection_id_id", "conversations", ["collection_id", "id"], schema=_SCHEMA)
    op.create_index(
        "ix_conversations_collection_id_pair_state",
        "conversations",
        ["collection_id", "pair", "state"],
        schema=_SCHEMA,
    )
    op.create_index(
        "ix_conversations_waiting",
        "conversations",
        ["collection_id", "next_bot", "round", "id"],
        schema=_SCHEMA,
        postgresql_where=sa.text("state = 'running' AND held_by IS NULL AND next_bot IS NOT NULL"),
    )
    op.create_index(
        "ix_conversations_held",
        "conversations",
        ["held_by", "collection_id"],
        schema=_SCHEMA,
        postgresql_where=sa.text("held_by IS NOT NULL"),
    )
    op.execute("ALTER TABLE conversations.conversations SET (fillfactor = 80)")
