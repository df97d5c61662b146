"""Statistics of corpora, what else is known of a dialogue, marks of conversations."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "conversations_0004"
down_revision = "conversations_0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("dialogues", sa.Column("persona", postgresql.ARRAY(sa.Text()), nullable=True), schema="conversations")
    op.add_column(
        "dialogues",
        sa.Column("metadata", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        schema="conversations",
    )
    op.create_table(
        "corpus_splits",
        sa.Column("corpus_id", sa.Uuid(), nullable=False),
        sa.Column("split", sa.String(length=50), nullable=False),
        sa.Column("dialogues", sa.BigInteger(), nullable=False),
        sa.Column("utterances", sa.BigInteger(), nullable=False),
        sa.Column("exchanges", sa.BigInteger(), nullable=False),
        sa.Column("words", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["corpus_id"], ["conversations.corpora.id"], name=op.f("fk_corpus_splits_corpus_id_corpora")
        ),
        sa.PrimaryKeyConstraint("corpus_id", "split", name=op.f("pk_corpus_splits")),
        schema="conversations",
    )
    op.execute(
        "INSERT INTO conversations.corpus_splits (corpus_id, split, dialogues, utterances, exchanges, words) "
        "SELECT corpus_id, split, count(*), sum(cardinality(turns)), sum(cardinality(turns) / 2), "
        "sum(regexp_count(array_to_string(turns, ' '), '\\w+')) "
        "FROM conversations.dialogues GROUP BY corpus_id, split"
    )
    op.create_table(
        "markings",
        sa.Column("collection_id", sa.Uuid(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("failure", sa.String(length=1000), nullable=True),
        sa.Column("training_corpus_id", sa.Uuid(), nullable=True),
        sa.Column("training_split", sa.String(length=50), nullable=True),
        sa.Column("requested_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("account", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("marked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["conversations.collections.id"], name=op.f("fk_markings_collection_id_collections")
        ),
        sa.ForeignKeyConstraint(
            ["training_corpus_id"], ["conversations.corpora.id"], name=op.f("fk_markings_training_corpus_id_corpora")
        ),
        sa.PrimaryKeyConstraint("collection_id", name=op.f("pk_markings")),
        schema="conversations",
    )
    op.create_table(
        "marks",
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("collection_id", sa.Uuid(), nullable=False),
        sa.Column("rules", sa.SmallInteger(), nullable=False),
        sa.Column("bot_speaks", sa.Boolean(), nullable=False),
        sa.Column("turns", sa.Integer(), nullable=False),
        sa.Column("words", sa.Integer(), nullable=False),
        sa.Column("language", sa.String(length=10), nullable=True),
        sa.Column("language_probability", sa.Double(), nullable=True),
        sa.Column("exact_duplicate_of", sa.Uuid(), nullable=True),
        sa.Column("near_duplicate_of", sa.Uuid(), nullable=True),
        sa.Column("similarity", sa.Double(), nullable=True),
        sa.Column("in_training", sa.Integer(), nullable=True),
        sa.Column("profanity", postgresql.ARRAY(sa.SmallInteger()), nullable=False),
        sa.Column("personal_data", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("text_hash", sa.LargeBinary(), nullable=False),
        sa.Column("signature", sa.LargeBinary(), nullable=False),
        sa.Column("exchange_hashes", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["conversations.collections.id"], name=op.f("fk_marks_collection_id_collections")
        ),
        sa.ForeignKeyConstraint(
            ["conversation_id"], ["conversations.conversations.id"], name=op.f("fk_marks_conversation_id_conversations")
        ),
        sa.PrimaryKeyConstraint("conversation_id", name=op.f("pk_marks")),
        schema="conversations",
    )
    op.create_index(
        op.f("ix_marks_collection_id_conversation_id"),
        "marks",
        ["collection_id", "conversation_id"],
        unique=False,
        schema="conversations",
    )
