"""The pages of a collection mark bots as its newest campaign does."""

import re
from typing import Any

import httpx
import pytest

from tests.factories.annotating import claim, work_through
from tests.factories.campaigns import campaign_of
from tests.factories.running_suite import RunningSuite

PAID: dict[str, Any] = {"pay_per_package": "1.50", "currency": "EUR", "package_size": 20}


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics", "web")


async def test_campaigns_lend_their_colours_to_the_pages_of_their_collection(
    suite: RunningSuite, admin: httpx.AsyncClient
):
    campaign = await campaign_of(suite, **PAID)
    await work_through(suite, await claim(suite, campaign, "p-17"))
    speakers = (await (await suite.analytics("analyst")).time(campaign["id"])).speakers
    for page in ("/admin/collections", "/conversations"):
        shown = (await admin.get(f"{page}/{campaign['collections'][0]}")).text
        marked = re.findall(r'on-light" fill="(#\w+)".*?<bdi>([^<]+)</bdi>', shown)
        assert set(marked) == {(each.colour, each.name) for each in speakers}
        assert f'href="/campaigns/{campaign["id"]}"' in shown
