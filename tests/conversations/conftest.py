"""Fixtures for tests of conversations."""

from collections.abc import AsyncIterator

import pytest

from spotthebot.kit.database.sessions import Database
from tests.factories.databases import DatabaseUrls
from tests.factories.running_suite import RunningSuite
from tests.factories.savepoints import SavepointDatabase, rolled_back


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    """The services that run conversations, and no others."""
    return "bots", "conversations"


@pytest.fixture
async def outbox(suite: RunningSuite) -> AsyncIterator[Database]:
    """The service's database, to write events as its use cases do."""
    database = Database(suite.database.app["conversations"], pool_size=2)
    yield database
    await database.close()


@pytest.fixture
async def outbox_alone(database_urls: DatabaseUrls) -> AsyncIterator[Database]:
    """The same for tests that start dispatchers of their own."""
    database = Database(database_urls.app["conversations"], pool_size=2)
    yield database
    await database.close()


@pytest.fixture
async def stored(shared_urls: DatabaseUrls) -> AsyncIterator[SavepointDatabase]:
    """Sessions of the service's store, rolled back after the test."""
    async with rolled_back(shared_urls.app["conversations"]) as database:
        yield database
