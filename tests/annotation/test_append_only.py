"""Rows that are only ever added: words of the erased alone are replaced."""

from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.factories.databases import Databases, DatabaseUrls


@pytest.mark.parametrize(
    ("function", "before", "after", "is_let"),
    [
        *(
            ("change_but_erased_texts", {"why": "a", "about": {"A": "b", "B": 2}, "n": 1}, after, is_let)
            for after, is_let in (
                ({"why": "a", "about": {"A": "b", "B": 2}, "n": 1}, True),
                ({"why": "erased", "about": {"A": "b", "B": 2}, "n": 1}, True),
                ({"why": "a", "about": {"A": "erased", "B": 2}, "n": 1}, True),
                ({"why": "erased", "about": {"A": "erased", "B": 2}, "n": 1}, True),
                ({"why": "other", "about": {"A": "b", "B": 2}, "n": 1}, False),
                ({"why": "erased", "about": {"A": "b", "B": 2}, "n": "erased"}, False),
                ({"why": "erased", "about": "erased", "n": 1}, False),
                ({"why": {"A": "erased"}, "about": {"A": "b", "B": 2}, "n": 1}, False),
                ({"why": "a", "about": {"A": "other", "B": 2}, "n": 1}, False),
                ({"why": "a", "about": {"A": "b", "B": "erased"}, "n": 1}, False),
                ({"why": "a", "about": {"A": "erased"}, "n": 1}, False),
                ({"why": "a", "about": {"A": "b", "B": 2, "C": "erased"}, "n": 1}, False),
                ({"why": "a", "about": {"A": "b", "B": 2}}, False),
                ({"why": "a", "about": {"A": "b", "B": 2}, "n": 1, "more": "erased"}, False),
            )
        ),
        *(
            ("change_but_erasure", {"reason": "a", "n": 1}, after, is_let)
            for after, is_let in (
                ({"reason": "a", "n": 1}, True),
                ({"reason": "erased", "n": 1}, True),
                ({"reason": "erased", "n": "erased"}, True),
                ({"reason": "other", "n": 1}, False),
                ({"reason": "erased"}, False),
                ({"reason": "erased", "n": 1, "more": "erased"}, False),
            )
        ),
    ],
)
def test_rows_that_are_only_added_let_texts_become_erased_and_nothing_else(
    databases: Databases,
    database_urls: DatabaseUrls,
    function: str,
    before: dict[str, Any],
    after: dict[str, Any],
    is_let: bool,
):
    column = "answer" if function.endswith("texts") else "details"
    with psycopg.connect(databases.admin_url(database_urls)) as connection:
        connection.execute(f"CREATE TEMPORARY TABLE kept (place int, {column} jsonb)".encode())
        connection.execute(f"INSERT INTO kept VALUES (0, %s) RETURNING {column}".encode(), [Jsonb(before)])  # noqa: S608 - one of two names above
        connection.execute(
            "CREATE TRIGGER guard BEFORE UPDATE OR DELETE ON kept FOR EACH ROW"
            f" EXECUTE FUNCTION annotation.refuse_{function}()".encode()
        )
        statements: list[tuple[str, list[Any], bool]] = [
            (f"UPDATE kept SET {column} = %s", [Jsonb(after)], is_let),  # noqa: S608 - one of two names above
            (f"UPDATE kept SET {column} = %s, place = 1", [Jsonb(after)], False),  # noqa: S608 - one of two names above
            ("DELETE FROM kept", [], False),
        ]
        for statement, values, passes in statements:
            try:
                with connection.transaction():
                    connection.execute(statement.encode(), values)
            except psycopg.errors.RaiseException:
                assert not passes
            else:
                assert passes
