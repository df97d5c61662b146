"""Fixtures for tests of conversations."""

from collections.abc import AsyncIterator

import pytest

from spotthebot.kit.database import Database
from tests.factories.databases import DatabaseUrls
from tests.factories.running_suite import RunningSuite, run_suite


@pytest.fixture
async def outbox(database_urls: DatabaseUrls) -> AsyncIterator[Database]:
    """The service's database, to write events as its use cases do."""
    database = Database(database_urls.app["conversations"], pool_size=2)
    yield database
    await database.close()


@pytest.fixture
async def suite(database_urls: DatabaseUrls) -> AsyncIterator[RunningSuite]:
    """The services that conversations are held by, and no others: half the time of a whole house."""
    async with run_suite(database_urls, only=("bots", "conversations")) as opened:
        yield opened
