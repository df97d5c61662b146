"""Procrastinate's tables in the schema of a service."""

import contextlib

from procrastinate.schema import SchemaManager
from sqlalchemy import Connection


def create_job_tables(connection: Connection, schema: str) -> None:
    """Create procrastinate's tables in `schema`. Only a schema's first migration calls this.

    The row of a job stores the trace in which the job was queued.
    """
    # The driver's own cursor: SQLAlchemy would prepare the whole script as one statement.
    with contextlib.closing(connection.connection.cursor()) as cursor:
        cursor.execute(f'SET LOCAL search_path TO "{schema}"')
        cursor.execute(SchemaManager.get_schema())
        cursor.execute("SET LOCAL search_path TO DEFAULT")
        cursor.execute(
            f'ALTER TABLE "{schema}".procrastinate_jobs ADD COLUMN trace text'
            " DEFAULT NULLIF(current_setting('spotthebot.trace', true), '')"
        )
