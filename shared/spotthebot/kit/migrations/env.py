"""The Alembic environment of every schema.

Each schema has its own version table, and is migrated by one process at a time.
"""

from typing import Any

from alembic import context
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, pool, text

from spotthebot.kit.migrations.lineage import Lineage

_LOCK = text("SELECT pg_advisory_lock(hashtextextended(:name, 0))")
_UNLOCK = text("SELECT pg_advisory_unlock(hashtextextended(:name, 0))")


def _run() -> None:
    lineage: Lineage = context.config.attributes["lineage"]
    engine = create_engine(context.config.attributes["url"], poolclass=pool.NullPool)
    lock = {"name": f"spotthebot.migrations.{lineage.schema}"}
    with engine.connect() as connection:
        # The owner's limits are for its other connections: a migrator waits for earlier ones, and may take long.
        connection.execute(text("SET lock_timeout = 0; SET statement_timeout = '1h'"))
        connection.execute(_LOCK, lock)
        connection.commit()
        try:
            connection.execute(text("SET lock_timeout = '5s'"))
            connection.commit()
            context.configure(
                connection=connection,
                target_metadata=lineage.metadata,
                version_table_schema=lineage.schema,
                include_schemas=True,
                include_name=_only(lineage.schema),
                compare_server_default=True,
            )
            with context.begin_transaction():
                context.run_migrations()
                if context.config.attributes.get("upgrades"):
                    _note_oldest_head(connection, lineage)
        finally:
            connection.rollback()
            connection.execute(_UNLOCK, lock)
            connection.commit()
    engine.dispose()


def _note_oldest_head(connection: Connection, lineage: Lineage) -> None:
    """Store in the database which is the oldest release that works with it.

    The release's newest revision identifies it.
    """
    revisions = ScriptDirectory.from_config(context.config).walk_revisions()
    heads = [
        getattr(each.module, "OLDEST_HEAD", each.revision)
        for each in revisions
        if f"{each.revision}_post_" in each.path
    ]
    oldest = max(heads, default=min(lineage.known))
    connection.execute(text(f"COMMENT ON TABLE \"{lineage.schema}\".alembic_version IS '{oldest}'"))


def _only(schema: str) -> Any:  # noqa: ANN401 - Alembic's callback type is private
    """Return a filter for Alembic. It leaves out other schemas and the tables of procrastinate."""

    def include(name: str | None, kind: str, _parents: object) -> bool:
        if kind == "schema":
            return name == schema
        return not (kind == "table" and (name or "").startswith("procrastinate_"))

    return include


_run()
