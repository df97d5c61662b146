"""Chats of people with bots."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "conversations_0006"
down_revision = "conversations_0005"
branch_labels = None
depends_on = None

_SCHEMA = "conversations"


def upgrade() -> None:
    op.add_column(
        "places", sa.Column("waits", sa.Boolean(), server_default=sa.text("false"), nullable=False), schema=_SCHEMA
    )
    op.create_table(
        "chats",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("collection_id", sa.Uuid(), nullable=False),
        sa.Column("interactor", sa.String(length=200), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("bots", postgresql.ARRAY(sa.Uuid()), nullable=False),
        sa.Column("conversations", postgresql.ARRAY(sa.Uuid()), nullable=False),
        sa.Column("events", sa.Integer(), server_default="0", nullable=False),
        sa.Column("ratings", postgresql.JSONB(astext_type=sa.Text())),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("last_turn_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("rated_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["conversations.collections.id"], name=op.f("fk_chats_collection_id_collections")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chats")),
        schema=_SCHEMA,
    )
    op.create_index("ix_chats_collection_id_id", "chats", ["collection_id", "id"], schema=_SCHEMA)
    op.create_index("ix_chats_collection_id_interactor", "chats", ["collection_id", "interactor"], schema=_SCHEMA)
    op.create_index(
        "ix_chats_chatting", "chats", ["last_turn_at"], schema=_SCHEMA, postgresql_where=sa.text("state = 'chatting'")
    )
    op.create_table(
        "chat_events",
        sa.Column("chat_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("data", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.ForeignKeyConstraint(["chat_id"], ["conversations.chats.id"], name=op.f("fk_chat_events_chat_id_chats")),
        sa.PrimaryKeyConstraint("chat_id", "number", name=op.f("pk_chat_events")),
        schema=_SCHEMA,
    )
