"""Clients of a wire that answers as each test wants."""

from collections.abc import AsyncIterator, Iterator

import pytest
import respx

from spotthebot.clients import AsyncBots, Bots
from tests.factories.wire import AT_ONCE, BASE


@pytest.fixture
def wire() -> Iterator[respx.Router]:
    with respx.mock(base_url=BASE) as router:
        yield router


@pytest.fixture
async def bots() -> AsyncIterator[AsyncBots]:
    async with AsyncBots(BASE, "key", retries=AT_ONCE) as client:
        yield client


@pytest.fixture
def blocking_bots() -> Iterator[Bots]:
    with Bots(BASE, "key", retries=AT_ONCE) as client:
        yield client
