"""The tables of chats and their ratings."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

_SCHEMA = "conversations"
_JSON = postgresql.JSONB()
_MOMENT = sa.DateTime(timezone=True)
_NOW = sa.text("now()")


def create_tables() -> None:
    """Create the tables, referenced tables first."""
    op.create_table(
        "chats",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("collection_id", sa.Uuid(), nullable=False),
        sa.Column("interactor", sa.String(200), nullable=False),
        sa.Column("link", sa.String(200)),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("bots", postgresql.ARRAY(sa.Uuid()), nullable=False),
        sa.Column("conversations", postgresql.ARRAY(sa.Uuid()), nullable=False),
        sa.Column("events", sa.Integer(), server_default="0", nullable=False),
        sa.Column("ratings", _JSON),
        sa.Column("created_at", _MOMENT, server_default=_NOW, nullable=False),
        sa.Column("last_turn_at", _MOMENT, server_default=_NOW, nullable=False),
        sa.Column("rated_at", _MOMENT),
        sa.Column("token_sha256", sa.LargeBinary()),
        sa.Column("token_expires_at", _MOMENT),
        sa.PrimaryKeyConstraint("id", name="pk_chats"),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["conversations.collections.id"], name="fk_chats_collection_id_collections"
        ),
        schema=_SCHEMA,
    )
    op.create_index(
        "ix_chats_chatting", "chats", ["last_turn_at"], schema=_SCHEMA, postgresql_where=sa.text("state = 'chatting'")
    )
    op.create_index("ix_chats_collection_id_id", "chats", ["collection_id", "id"], schema=_SCHEMA)
    op.create_index("ix_chats_collection_id_interactor", "chats", ["collection_id", "interactor"], schema=_SCHEMA)
    op.create_table(
        "chat_events",
        sa.Column("chat_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("data", _JSON, nullable=False),
        sa.PrimaryKeyConstraint("chat_id", "number", name="pk_chat_events"),
        sa.ForeignKeyConstraint(["chat_id"], ["conversations.chats.id"], name="fk_chat_events_chat_id_chats"),
        schema=_SCHEMA,
    )
    op.create_table(
        "chat_people",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("collection_id", sa.Uuid(), nullable=False),
        sa.Column("interactor", sa.String(200), nullable=False),
        sa.Column("kind", sa.String(20), server_default="person", nullable=False),
        sa.Column("consent_sha256", sa.String(64)),
        sa.Column("consented_at", _MOMENT),
        sa.Column("consent_withdrawn_at", _MOMENT),
        sa.Column("created_at", _MOMENT, server_default=_NOW, nullable=False),
        sa.Column("erased_at", _MOMENT),
        sa.Column("texts_erased_at", _MOMENT),
        sa.PrimaryKeyConstraint("id", name="pk_chat_people"),
        sa.UniqueConstraint("collection_id", "interactor", name="uq_chat_people_collection_id_interactor"),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["conversations.collections.id"], name="fk_chat_people_collection_id_collections"
        ),
        schema=_SCHEMA,
    )
    op.create_table(
        "revoked_links",
        sa.Column("collection_id", sa.Uuid(), nullable=False),
        sa.Column("link", sa.String(200), nullable=False),
        sa.Column("revoked_at", _MOMENT, server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("collection_id", "link", name="pk_revoked_links"),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["conversations.collections.id"], name="fk_revoked_links_collection_id_collections"
        ),
        schema=_SCHEMA,
    )
    op.create_table(
        "imported_ratings",
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("collection_id", sa.Uuid(), nullable=False),
        sa.Column("chat_id", sa.Uuid(), nullable=False),
        sa.Column("interactor", sa.String(200), nullable=False),
        sa.Column("number", sa.SmallInteger(), nullable=False),
        sa.Column("scores", _JSON, nullable=False),
        sa.Column("preferred", sa.SmallInteger()),
        sa.Column("preferences", _JSON, server_default=sa.text("'{}'"), nullable=False),
        sa.Column("rated_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("conversation_id", name="pk_imported_ratings"),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["conversations.collections.id"], name="fk_imported_ratings_collection_id_collections"
        ),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.conversations.id"],
            name="fk_imported_ratings_conversation_id_conversations",
        ),
        schema=_SCHEMA,
    )
    op.create_index(
        "ix_imported_ratings_collection_id_chat_id", "imported_ratings", ["collection_id", "chat_id"], schema=_SCHEMA
    )
    op.create_index(
        "ix_imported_ratings_collection_id_interactor",
        "imported_ratings",
        ["collection_id", "interactor"],
        schema=_SCHEMA,
    )
