"""How many requests the services serve for one view of a dashboard and for one of its pictures."""

import re
from collections.abc import AsyncIterator
from html import unescape

import httpx
import pytest

from tests.factories.campaigns import PAIRS, labelled_campaign
from tests.factories.pages import signed_in
from tests.factories.running_suite import RunningSuite
from tests.factories.served import Served, served, table
from tests.factories.studies import register_bots

MAX_FOR_A_VIEW = 8
"""Beside one for each collection."""
MAX_FOR_A_PICTURE = 2


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics", "web")


@pytest.fixture
async def reader(suite: RunningSuite) -> AsyncIterator[httpx.AsyncClient]:
    async with signed_in(suite, "analyst") as client:
        client.timeout = 60
        yield client


async def seen(suite: RunningSuite) -> str:
    return "/campaigns/" + (await labelled_campaign(suite, await register_bots(suite), PAIRS)).rpartition("/")[2]


async def requests_for(suite: RunningSuite, reader: httpx.AsyncClient, address: str) -> tuple[httpx.Response, Served]:
    """Ask for a page and return it with the requests that all services served for it."""
    before = served(suite)
    answer = await reader.get(address)
    assert answer.status_code == 200, answer.text
    found = served(suite) - before
    print(f"\n{address}: {found.total()}\n{table(found)}")
    return answer, found


class TestRequests:
    @pytest.mark.parametrize("query", ["", "?whole=true"])
    async def test_a_view_of_a_finished_dashboard_takes_few_requests(
        self, suite: RunningSuite, reader: httpx.AsyncClient, query: str
    ):
        address = await seen(suite)
        await reader.get(f"{address}?whole=true")
        _, found = await requests_for(suite, reader, address + query)
        assert found.total() <= MAX_FOR_A_VIEW + 1

    async def test_a_picture_of_a_dashboard_takes_few_requests(self, suite: RunningSuite, reader: httpx.AsyncClient):
        address = await seen(suite)
        page = await reader.get(f"{address}?whole=true")
        pictures = [unescape(each) for each in re.findall(r'<img src="(/campaigns/[^"]*)"', page.text)]
        assert pictures
        for picture in pictures:
            await reader.get(picture)
            _, found = await requests_for(suite, reader, picture)
            assert found.total() <= MAX_FOR_A_PICTURE
