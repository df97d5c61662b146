"""People's ratings of imported conversations."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "conversations_0015"
down_revision = "conversations_0014"
branch_labels = None
depends_on = None

_SCHEMA = "conversations"


def upgrade() -> None:
    op.create_table(
        "imported_ratings",
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("collection_id", sa.Uuid(), nullable=False),
        sa.Column("chat_id", sa.Uuid(), nullable=False),
        sa.Column("interactor", sa.String(length=200), nullable=False),
        sa.Column("number", sa.SmallInteger(), nullable=False),
        sa.Column("scores", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("preferred", sa.SmallInteger(), nullable=True),
        sa.Column("rated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.conversations.id"],
            name=op.f("fk_imported_ratings_conversation_id_conversations"),
        ),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["conversations.collections.id"],
            name=op.f("fk_imported_ratings_collection_id_collections"),
        ),
        sa.PrimaryKeyConstraint("conversation_id", name=op.f("pk_imported_ratings")),
        schema=_SCHEMA,
    )
    op.create_index(
        "ix_imported_ratings_collection_id_chat_id", "imported_ratings", ["collection_id", "chat_id"], schema=_SCHEMA
    )
