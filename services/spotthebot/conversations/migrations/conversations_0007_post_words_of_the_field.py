"""Tables, columns and queued jobs get the names that the field uses; no row is lost."""

from alembic import op

revision = "conversations_0007"
down_revision = "conversations_0006"
branch_labels = None
depends_on = None

_SCHEMA = "conversations"
_TABLES = {"places": "concurrency_slots", "away_bots": "unavailable_bots", "paces": "turn_counts"}
_COLUMNS = {
    ("concurrency_slots", "taken"): "slots",
    ("concurrency_slots", "until"): "expires_at",
    ("concurrency_slots", "waits"): "queued",
    ("conversations", "held_by"): "runner_job_id",
    ("conversations", "turns_wanted"): "turns_planned",
    ("collections", "turns_wanted"): "turns_planned",
}
_INDEXES = {
    "pk_places": "pk_concurrency_slots",
    "ix_places_bot_id": "ix_concurrency_slots_bot_id",
    "pk_away_bots": "pk_unavailable_bots",
    "pk_paces": "pk_turn_counts",
    "ix_conversations_held": "ix_conversations_claimed",
}
_TASKS = {
    "conversations:hold_conversations": "conversations:run_conversations",
    "conversations:answer_chat": "conversations:reply_in_chat",
}


def upgrade() -> None:
    for old, new in _TABLES.items():
        op.rename_table(old, new, schema=_SCHEMA)
    for (table, old), new in _COLUMNS.items():
        op.alter_column(table, old, new_column_name=new, schema=_SCHEMA)
    for old, new in _INDEXES.items():
        op.execute(f"ALTER INDEX {_SCHEMA}.{old} RENAME TO {new}")
    op.execute(
        f"ALTER TABLE {_SCHEMA}.turn_counts RENAME CONSTRAINT fk_paces_collection_id_collections"
        " TO fk_turn_counts_collection_id_collections"
    )
    for old, new in _TASKS.items():
        op.execute(f"UPDATE {_SCHEMA}.procrastinate_jobs SET task_name = '{new}' WHERE task_name = '{old}'")  # noqa: S608 - constants
