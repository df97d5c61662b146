"""Fixtures for tests of pages in a real browser, on all running services."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser

from spotthebot.contracts.services import SERVICE_NAMES
from tests.factories.browsing import Visit, visiting
from tests.factories.running_suite import RunningSuite


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return SERVICE_NAMES


@pytest.fixture
async def visit(chromium: Browser, suite: RunningSuite) -> AsyncIterator[Visit]:
    """A person's browser without cookies."""
    async with visiting(chromium, suite, locale="en-GB") as visit:
        yield visit
