"""Standings and public results of a campaign in which no two bots met: by fooling rate, people without a rank."""

from collections.abc import AsyncIterator

import pytest

from tests.factories.campaigns import ANNOTATORS, get_standing, labelled_campaign, released_campaign
from tests.factories.running_suite import RunningSuite, SharedSuites
from tests.factories.studies import register_bots

PAIRS = [("HU", "ours"), ("secretive", "HU"), ("baseline", "HU")]
"""In three of four annotations the first speaker is labelled human and the second bot; in the fourth both are alike."""


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return "bots", "conversations", "annotation", "analytics"


@pytest.fixture(scope="class")
async def suite(module_suite: RunningSuite, shared_suites: SharedSuites) -> AsyncIterator[RunningSuite]:
    """The file's services; the tests of a class read the same rows."""
    yield module_suite
    await shared_suites.empty(module_suite)


@pytest.fixture(scope="class")
async def path(suite: RunningSuite) -> str:
    """The path of a campaign whose results are released and published."""
    path = await labelled_campaign(suite, await register_bots(suite), PAIRS)
    admin = await suite.client("annotation", "admin")
    for step in ("release", "publish"):
        assert (await admin.post(f"{path}/results/{step}")).status_code == 200
    return path


class TestStandings:
    async def test_are_ordered_by_the_operators_fooling_rates_and_hide_the_same_names(
        self, suite: RunningSuite, path: str
    ):
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

    @pytest.mark.usefixtures("path")
    async def test_public_results_say_by_what_they_rank(self, suite: RunningSuite):
        board = (await (await suite.client("analytics", "analyst")).get("/v1/leaderboards")).json()["items"]
        assert [each["ranked_by"] for each in board] == ["fooling_rates"]
        assert board[0]["method"].startswith("Wilson's interval")
        assert board[0]["rank_method"].startswith("sets of ranks that hold together: t tests of all differences")
        assert "secretive" not in str(board[0])


class TestFewAnnotators:
    async def test_say_that_so_few_annotators_can_tell_no_bots_apart(self, suite: RunningSuite):
        """Two annotators need 9 conversations of each of three pairs."""
        await released_campaign(suite, await register_bots(suite), annotators=ANNOTATORS[:2])
        standing = await get_standing(suite)
        (reason,) = standing["reasons"]
        assert reason.startswith("These were too few labels to tell any pair apart")
        assert "With these 2 annotators, 9 conversations of each pair would do" in reason
