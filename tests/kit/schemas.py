"""A schema as its migrations left it, held against its tables as they are declared, by PostgreSQL's own catalogue."""

import re

from sqlalchemy import Connection, MetaData, create_engine, text
from sqlalchemy.engine import make_url

_CATALOGUE = text("""
    WITH ours AS (
        SELECT oid, relname FROM pg_class
        WHERE relkind IN ('r', 'p') AND relnamespace = CAST(:schema AS regnamespace) AND relname = ANY(:tables)
    )
    SELECT relname || '.' || attname, concat_ws(
        ' ', format_type(atttypid, atttypmod), CASE WHEN attnotnull THEN 'NOT NULL' END, attidentity,
        'DEFAULT ' || pg_get_expr(adbin, adrelid)
    )
    FROM ours JOIN pg_attribute ON attrelid = ours.oid AND attnum > 0 AND NOT attisdropped
    LEFT JOIN pg_attrdef ON adrelid = ours.oid AND adnum = attnum
    UNION ALL
    SELECT relname || ': ' || pg_get_constraintdef(c.oid), contype::text
    FROM ours JOIN pg_constraint AS c ON conrelid = ours.oid AND contype IN ('p', 'u', 'f', 'c', 'x')
    UNION ALL
    SELECT ours.relname || ': ' || i.relname, pg_get_indexdef(indexrelid)
    FROM ours JOIN pg_index ON indrelid = ours.oid JOIN pg_class AS i ON i.oid = indexrelid
""")


def migrated_and_declared(admin_url: str, metadata: MetaData) -> tuple[dict[str, str], dict[str, str]]:
    """Return the columns, constraints and indexes of a schema's tables, as they are and as the code declares them.

    The declared ones are made in a schema of their own, which is rolled back; that takes a superuser.
    """
    engine = create_engine(make_url(admin_url).set(drivername="postgresql+psycopg"))
    try:
        with engine.connect() as connection:
            migrated = _catalogue(connection, metadata, str(metadata.schema))
            connection.execute(text("CREATE SCHEMA declared"))
            connection.execution_options(schema_translate_map={metadata.schema: "declared"})
            metadata.create_all(connection, checkfirst=False)
            declared = _catalogue(connection, metadata, "declared")
            connection.rollback()
        return migrated, declared
    finally:
        engine.dispose()


def _catalogue(connection: Connection, metadata: MetaData, schema: str) -> dict[str, str]:
    names = [table.name for table in metadata.tables.values()]
    rows = connection.execute(_CATALOGUE, {"schema": schema, "tables": names})
    qualified = re.compile(rf"(?<=[ (]){schema}\.(?=\w+[ (])")
    return {qualified.sub("", name): qualified.sub("", what) for name, what in rows}
