"""Released and published results of a campaign by ratings, on the pages of teams and of everybody."""

import httpx
import pytest

from tests.factories.campaigns import rated_campaign
from tests.factories.pages import signed_in
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import register_bots


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics", "web")


async def _release(suite: RunningSuite, *changes: str) -> None:
    path = await rated_campaign(suite, await register_bots(suite))
    admin = await suite.client("annotation", "admin")
    for change in changes:
        assert (await admin.post(f"{path}/results/{change}")).status_code == 200


class TestStandings:
    async def test_show_a_team_its_place_by_the_headline_measure(self, suite: RunningSuite):
        await _release(suite, "release")
        async with signed_in(suite, "team", team="us") as client:
            page = (await client.get("/bots/standings", timeout=60)).text
            bots = (await client.get("/bots", timeout=60)).text
        assert "none of the 3 pairs of bots can be told apart" in page
        assert page.index("<b") < page.index("4.50") < page.index("3.00") < page.index("1.50")
        assert "secretive" not in page
        assert "1\N{EN DASH}3" in bots or "1 to 3" in bots


class TestLeaderboard:
    async def test_shows_everybody_the_headline_measure_under_pseudonyms(self, suite: RunningSuite):
        await _release(suite, "release", "publish")
        async with httpx.AsyncClient(base_url=suite.urls["web"], timeout=60) as stranger:
            page = (await stranger.get("/leaderboard")).text
        assert "none of the 3 pairs of bots can be told apart" in page
        for number in ("4.50", "3.00", "1.50"):
            assert number in page
        assert "baseline" in page
        assert "secretive" not in page
        assert 'data-bot="ours"' not in page
