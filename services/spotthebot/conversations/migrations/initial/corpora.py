"""The tables of corpora and held-out exchanges."""

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
        "corpora",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("domain", sa.String(50), nullable=False),
        sa.Column("origin", sa.String(1000), nullable=False),
        sa.Column("licence", sa.String(200), nullable=False),
        sa.Column("owner", sa.String(100)),
        sa.Column("visibility", sa.String(10), server_default="private", nullable=False),
        sa.Column("created_at", _MOMENT, server_default=_NOW, nullable=False),
        sa.Column("removed_at", _MOMENT),
        sa.PrimaryKeyConstraint("id", name="pk_corpora"),
        sa.UniqueConstraint("name", name="uq_corpora_name"),
        schema=_SCHEMA,
    )
    op.create_table(
        "dialogues",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("corpus_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.String(200), nullable=False),
        sa.Column("split", sa.String(50), nullable=False),
        sa.Column("turns", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("persona", postgresql.ARRAY(sa.Text())),
        sa.Column("metadata", _JSON),
        sa.PrimaryKeyConstraint("id", name="pk_dialogues"),
        sa.ForeignKeyConstraint(["corpus_id"], ["conversations.corpora.id"], name="fk_dialogues_corpus_id_corpora"),
        sa.UniqueConstraint("corpus_id", "key", name="uq_dialogues_corpus_id_key"),
        schema=_SCHEMA,
    )
    op.create_index("ix_dialogues_corpus_id_split_id", "dialogues", ["corpus_id", "split", "id"], schema=_SCHEMA)
    op.create_table(
        "corpus_splits",
        sa.Column("corpus_id", sa.Uuid(), nullable=False),
        sa.Column("split", sa.String(50), nullable=False),
        sa.Column("dialogues", sa.BigInteger(), nullable=False),
        sa.Column("utterances", sa.BigInteger(), nullable=False),
        sa.Column("exchanges", sa.BigInteger(), nullable=False),
        sa.Column("words", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("corpus_id", "split", name="pk_corpus_splits"),
        sa.ForeignKeyConstraint(["corpus_id"], ["conversations.corpora.id"], name="fk_corpus_splits_corpus_id_corpora"),
        schema=_SCHEMA,
    )
    op.create_table(
        "held_out_exchanges",
        sa.Column("hash", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("in_chat", sa.Boolean(), nullable=False),
        sa.Column("since", sa.Uuid(), nullable=False),
        sa.Column("suffices", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("hash", "in_chat", name="pk_held_out_exchanges"),
        schema=_SCHEMA,
    )
