"""Fixtures of the tests of pages."""

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.factories.pages import signed_in
from tests.factories.running_suite import RunningSuite


@pytest.fixture
async def admin(suite: RunningSuite) -> AsyncIterator[httpx.AsyncClient]:
    """An administrator who signed in."""
    async with signed_in(suite, "admin") as client:
        yield client
