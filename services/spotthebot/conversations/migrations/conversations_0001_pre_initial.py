"""The first tables."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from spotthebot.kit.jobs import create_job_tables

revision = "conversations_0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "collections",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("domain", sa.String(length=50), nullable=False),
        sa.Column("mode", sa.String(length=20), nullable=False),
        sa.Column("plan", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_collections")),
        schema="conversations",
    )
    op.create_table(
        "corpora",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("domain", sa.String(length=50), nullable=False),
        sa.Column("origin", sa.String(length=1000), nullable=False),
        sa.Column("licence", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_corpora")),
        sa.UniqueConstraint("name", name=op.f("uq_corpora_name")),
        schema="conversations",
    )
    op.create_table(
        "idempotency_keys",
        sa.Column("principal", sa.Uuid(), nullable=False),
        sa.Column("path", sa.String(length=500), nullable=False),
        sa.Column("key", sa.String(length=200), nullable=False),
        sa.Column("body_sha256", sa.LargeBinary(), nullable=False),
        sa.Column("status", sa.SmallInteger(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("principal", "path", "key", name=op.f("pk_idempotency_keys")),
        schema="conversations",
    )
    op.create_index(
        "ix_idempotency_keys_created_at", "idempotency_keys", ["created_at"], unique=False, schema="conversations"
    )
    op.create_table(
        "conversations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("collection_id", sa.Uuid(), nullable=False),
        sa.Column("external_id", sa.String(length=200), nullable=True),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("failure", sa.String(length=1000), nullable=True),
        sa.Column("participants", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("opening", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("opening_shown", sa.Boolean(), nullable=False),
        sa.Column("turns_wanted", sa.Integer(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["conversations.collections.id"], name=op.f("fk_conversations_collection_id_collections")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_conversations")),
        sa.UniqueConstraint("collection_id", "external_id", name=op.f("uq_conversations_collection_id_external_id")),
        schema="conversations",
    )
    op.create_index(
        op.f("ix_conversations_collection_id_state_id"),
        "conversations",
        ["collection_id", "state", "id"],
        unique=False,
        schema="conversations",
    )
    op.create_table(
        "dialogues",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("corpus_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.String(length=200), nullable=False),
        sa.Column("split", sa.String(length=50), nullable=False),
        sa.Column("turns", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.ForeignKeyConstraint(
            ["corpus_id"], ["conversations.corpora.id"], name=op.f("fk_dialogues_corpus_id_corpora")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dialogues")),
        sa.UniqueConstraint("corpus_id", "key", name=op.f("uq_dialogues_corpus_id_key")),
        schema="conversations",
    )
    op.create_index(
        op.f("ix_dialogues_corpus_id_split_id"),
        "dialogues",
        ["corpus_id", "split", "id"],
        unique=False,
        schema="conversations",
    )
    op.create_table(
        "turns",
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("latency_ms", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["conversation_id"], ["conversations.conversations.id"], name=op.f("fk_turns_conversation_id_conversations")
        ),
        sa.PrimaryKeyConstraint("conversation_id", "position", name=op.f("pk_turns")),
        schema="conversations",
    )
    create_job_tables(op.get_bind(), "conversations")
