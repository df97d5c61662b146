"""Records that are made from rows by the names of their columns."""

from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import text

from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.database.statements import Statement
from tests.factories.databases import DatabaseUrls


@dataclass(frozen=True)
class _Letter:
    sender: str
    pages: int
    kind: str = "letter"


QUERY = "SELECT 'ann' AS sender, 3 AS pages, 'card' AS kind, 'x' AS secret"


@pytest.mark.parametrize("by_driver", [True, False])
class TestRecord:
    async def test_has_the_columns_of_its_names_and_other_fields(self, database_urls: DatabaseUrls, by_driver: bool):
        row = await _row(database_urls, QUERY, by_driver=by_driver)
        assert from_row(_Letter, row) == _Letter("ann", 3, "card")
        assert from_row(_Letter, row, pages=row.pages + 1) == _Letter("ann", 4, "card")

    async def test_names_a_column_that_is_missing(self, database_urls: DatabaseUrls, by_driver: bool):
        row = await _row(database_urls, "SELECT 'ann' AS sender, 3 AS pages", by_driver=by_driver)
        with pytest.raises(AttributeError, match="kind"):
            from_row(_Letter, row)


async def _row(urls: DatabaseUrls, query: str, *, by_driver: bool) -> Any:
    """Return the row of a query as psycopg gives it, or as SQLAlchemy does."""
    database = Database(urls.app["bots"], pool_size=1)
    async with database.read() as session:
        if by_driver:
            (row,) = await session.fetch(Statement(text(query)), {})
        else:
            row = (await session.execute(text(query))).one()
    await database.close()
    return row
