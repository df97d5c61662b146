"""Every page that shows ranks says first how many pairs of bots can be told apart, and by which measure."""

import html

import pytest

from spotthebot.contracts.analytics.differences import Differences
from tests.factories.campaigns import released_campaign
from tests.factories.pages import signed_in
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import register_bots


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics", "web")


def _words(measure: str, found: Differences) -> str:
    if not found.shown:
        return f"By {measure}, none of the {found.pairs} pairs of bots"
    return f"By {measure}, {'all' if found.shown == found.pairs else f'{found.shown} of'} {found.pairs} pairs of bots"


async def test_say_what_the_results_tell(suite: RunningSuite):
    path = await released_campaign(suite, await register_bots(suite))
    admin = await suite.client("annotation", "admin")
    assert (await admin.post(f"{path}/results/publish")).status_code == 200
    campaign = path.rpartition("/")[2]
    analytics = await suite.analytics("analyst")
    ranks = (await analytics.ranking(campaign)).ranking.differences
    curves = (await analytics.survival(campaign)).survival.differences
    assert ranks.shown != curves.shown  # or a page could take the one for the other
    async with signed_in(suite, "team", team="us") as team, signed_in(suite, "analyst") as analyst:
        pages = {
            "leaderboard": await analyst.get("/leaderboard"),
            "standings": await team.get("/bots/standings"),
            "claim": await analyst.get(f"/campaigns/{campaign}/parts/claim"),
            "survival": await analyst.get(f"/campaigns/{campaign}/parts/survival"),
            "win-rates": await analyst.get(f"/campaigns/{campaign}/parts/win-rates"),
        }
    texts = {name: html.unescape(page.text) for name, page in pages.items()}
    for name in ("leaderboard", "standings", "claim"):
        assert _words("mean win rate", ranks) in texts[name], name
    assert _words("survival (log-rank tests)", curves) in texts["survival"]
    for name in ("standings", "survival", "win-rates"):
        assert "an adjusted p is at most 1" in texts[name], name
