"""The tables of quality checks and quality flags."""

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
        "quality_checks",
        sa.Column("collection_id", sa.Uuid(), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("failure", sa.String(1000)),
        sa.Column("training_corpus_id", sa.Uuid()),
        sa.Column("training_split", sa.String(50)),
        sa.Column("requested_at", _MOMENT, server_default=_NOW, nullable=False),
        sa.Column("summary", _JSON),
        sa.Column("checked_at", _MOMENT),
        sa.PrimaryKeyConstraint("collection_id", name="pk_quality_checks"),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["conversations.collections.id"], name="fk_quality_checks_collection_id_collections"
        ),
        sa.ForeignKeyConstraint(
            ["training_corpus_id"], ["conversations.corpora.id"], name="fk_quality_checks_training_corpus_id_corpora"
        ),
        schema=_SCHEMA,
    )
    op.create_table(
        "quality_flags",
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("collection_id", sa.Uuid(), nullable=False),
        sa.Column("rules", sa.SmallInteger(), nullable=False),
        sa.Column("bot_speaks", sa.Boolean(), nullable=False),
        sa.Column("turns", sa.Integer(), nullable=False),
        sa.Column("words", sa.Integer(), nullable=False),
        sa.Column("language", sa.String(10)),
        sa.Column("language_probability", sa.Double()),
        sa.Column("exact_duplicate_of", sa.Uuid()),
        sa.Column("near_duplicate_of", sa.Uuid()),
        sa.Column("similarity", sa.Double()),
        sa.Column("in_training", sa.Integer()),
        sa.Column("profanity", postgresql.ARRAY(sa.SmallInteger()), nullable=False),
        sa.Column("personal_data", _JSON, nullable=False),
        sa.Column("text_hash", sa.LargeBinary(), nullable=False),
        sa.Column("signature", sa.LargeBinary(), nullable=False),
        sa.Column("exchange_hashes", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("conversation_id", name="pk_quality_flags"),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["conversations.collections.id"], name="fk_quality_flags_collection_id_collections"
        ),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.conversations.id"],
            name="fk_quality_flags_conversation_id_conversations",
        ),
        schema=_SCHEMA,
    )
    op.create_index(
        "ix_quality_flags_collection_id_conversation_id",
        "quality_flags",
        ["collection_id", "conversation_id"],
        schema=_SCHEMA,
    )
