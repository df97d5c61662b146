"""Fixtures for tests of annotation."""

from collections.abc import AsyncIterator

import pytest

from tests.factories.databases import DatabaseUrls
from tests.factories.savepoints import SavepointDatabase, rolled_back


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    """The services that run campaigns, and no others."""
    return "conversations", "annotation"


@pytest.fixture
async def stored(shared_urls: DatabaseUrls) -> AsyncIterator[SavepointDatabase]:
    """Sessions of the service's store, rolled back after the test."""
    async with rolled_back(shared_urls.app["annotation"]) as database:
        yield database
