"""Standings and public results of a campaign in which no two bots met: by fooling rate, people without a rank."""

import pytest

from tests.factories.campaigns import get_standing, labelled_campaign
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import register_bots

PAIRS = [("HU", "ours"), ("secretive", "HU"), ("baseline", "HU")]
"""The first speaker is called a human in three of four annotations, the second in none of three and the fourth alike."""


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return "bots", "conversations", "annotation", "analytics"


class TestStandings:
    async def test_are_ordered_by_the_operators_fooling_rates_and_hide_the_same_names(self, suite: RunningSuite):
        path = await labelled_campaign(suite, await register_bots(suite), PAIRS)
        admin = await suite.client("annotation", "admin")
        assert (await admin.post(f"{path}/results/release", json={"public": True})).status_code == 200
        analyst = await suite.client("analytics", "analyst")
        ranking = (await analyst.get(f"{path}/ranking")).json()["ranking"]
        assert ranking["ranked_by"] == "fooling_rates"
        ranks = {each["bot"]: (each["rank_low"], each["rank_high"]) for each in ranking["bots"]}
        assert ranks["HU"] == (None, None)
        standing = await get_standing(suite)
        assert (standing["ranked_by"], standing["reasons"], standing["pairs"]) == ("fooling_rates", [], [])
        *bots, people = standing["bots"]
        assert people["shown_as"] == "people"
        assert people["rank_low"] is None
        rates = [each["fooling_rate"]["estimate"] for each in bots]
        assert rates == sorted(rates, reverse=True)
        (own,) = (each for each in bots if each["shown_as"] == "own")
        assert (own["rank_low"], own["rank_high"]) == ranks["ours"]
        assert all(each["win_rate"] is None for each in standing["bots"])
        assert "secretive" not in str(standing)

    async def test_public_results_say_by_what_they_rank(self, suite: RunningSuite):
        path = await labelled_campaign(suite, await register_bots(suite), PAIRS)
        admin = await suite.client("annotation", "admin")
        assert (await admin.post(f"{path}/results/release", params={"public": True})).status_code == 200
        board = (await (await suite.client("analytics", "analyst")).get("/v1/leaderboards")).json()["items"]
        assert [each["ranked_by"] for each in board] == ["fooling_rates"]
        assert board[0]["method"].startswith("Wilson's interval")
        assert "fooling" not in board[0]["rank_method"] or "secretive" not in str(board[0])
