"""Where a service's tables hold a text: tests of erasure and of secrets look into every column."""

import json
from urllib.parse import quote

import psycopg
from psycopg import sql

from tests.factories.running_suite import RunningSuite

_TABLES = "SELECT table_name FROM information_schema.tables WHERE table_schema = %s"
_ROWS = sql.SQL("SELECT t::text FROM {} AS t")


def tables_that_hold(suite: RunningSuite, service: str, text: str) -> set[str]:
    """Return the tables of a service's schema that hold a text in any column: as text, in JSON, in a URL, or in bytes.

    Bytes are shown as hexadecimal digits.
    """
    forms = {text, json.dumps(text)[1:-1], quote(text)}
    looked_for = forms | {form.encode().hex() for form in forms}
    with psycopg.connect(suite.database.owner[service]) as connection:
        names = [name for (name,) in connection.execute(_TABLES, [service])]
        return {
            name
            for name in names
            for (row,) in connection.execute(_ROWS.format(sql.Identifier(service, name)))
            if any(each in row for each in looked_for)
        }
