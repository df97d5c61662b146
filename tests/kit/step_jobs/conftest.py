"""A database with tables of step jobs, and a tiny service on it."""

from collections.abc import AsyncIterator, Iterator

import pytest

from spotthebot.kit.database.sessions import Database
from tests.factories.databases import Databases, DatabaseUrls
from tests.kit.step_jobs.squares import DDL, SCHEMA, Service


@pytest.fixture
def database_urls(databases: Databases) -> Iterator[DatabaseUrls]:
    """A database of this test's own, with tables of step jobs."""
    with databases.lend(schema=SCHEMA, more=DDL) as urls:
        yield urls


@pytest.fixture
async def service(database_urls: DatabaseUrls) -> AsyncIterator[Service]:
    url = database_urls.app[SCHEMA]
    database = Database(url, pool_size=4)
    yield Service(url, database)
    await database.close()
