"""Fixtures for tests of pages in a real browser, on all running services."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser

from spotthebot.contracts.services import SERVICE_NAMES
from tests.factories.browser import BROWSER
from tests.factories.browsing import Visit, running_browser, visiting
from tests.factories.running_suite import RunningSuite


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip where there is no browser, and say so."""
    if BROWSER is None:
        skip = pytest.mark.skip(reason="no Chromium is installed: apt-get install chromium")
        for item in items:
            if "browser" in item.path.parts:
                item.add_marker(skip)


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return SERVICE_NAMES


@pytest.fixture(scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """The browser of this process."""
    async with running_browser() as browser:
        yield browser


@pytest.fixture
async def visit(chromium: Browser, suite: RunningSuite) -> AsyncIterator[Visit]:
    """A person's browser without cookies."""
    async with visiting(chromium, suite, locale="en-GB") as visit:
        yield visit
