"""Marks are quality flags, and a collection's marking is its quality check; no row is lost."""

from alembic import op

revision = "conversations_0009"
down_revision = "conversations_0008"
branch_labels = None
depends_on = None

_SCHEMA = "conversations"
_TABLES = {"marks": "quality_flags", "markings": "quality_checks"}
_COLUMNS = {("quality_checks", "marked_at"): "checked_at", ("quality_checks", "account"): "summary"}
_INDEXES = {
    "pk_marks": "pk_quality_flags",
    "pk_markings": "pk_quality_checks",
    "ix_marks_collection_id_conversation_id": "ix_quality_flags_collection_id_conversation_id",
}
_CONSTRAINTS = {
    ("quality_flags", "fk_marks_collection_id_collections"): "fk_quality_flags_collection_id_collections",
    ("quality_flags", "fk_marks_conversation_id_conversations"): "fk_quality_flags_conversation_id_conversations",
    ("quality_checks", "fk_markings_collection_id_collections"): "fk_quality_checks_collection_id_collections",
    ("quality_checks", "fk_markings_training_corpus_id_corpora"): "fk_quality_checks_training_corpus_id_corpora",
}


def upgrade() -> None:
    for old, new in _TABLES.items():
        op.rename_table(old, new, schema=_SCHEMA)
    for (table, old), new in _COLUMNS.items():
        op.alter_column(table, old, new_column_name=new, schema=_SCHEMA)
    for old, new in _INDEXES.items():
        op.execute(f"ALTER INDEX {_SCHEMA}.{old} RENAME TO {new}")
    for (table, old), new in _CONSTRAINTS.items():
        op.execute(f"ALTER TABLE {_SCHEMA}.{table} RENAME CONSTRAINT {old} TO {new}")
    op.execute(f"UPDATE {_SCHEMA}.quality_checks SET state = 'flagging' WHERE state = 'marking'")  # noqa: S608 - constants
    op.execute(
        f"UPDATE {_SCHEMA}.procrastinate_jobs SET task_name = 'conversations:flag_conversations'"  # noqa: S608 - constants
        " WHERE task_name = 'conversations:mark_conversations'"
    )
