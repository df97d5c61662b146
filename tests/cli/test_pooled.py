"""`stb campaigns pooled`: results of several campaigns, and their mean."""

import json
from collections.abc import AsyncIterator

import pytest

from tests.factories.campaigns import labelled_campaign
from tests.factories.command_line import Stb, stb_of_admin
from tests.factories.running_suite import RunningSuite


@pytest.fixture
async def stb(suite: RunningSuite, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stb]:
    async with stb_of_admin(suite, monkeypatch) as run:
        yield run


class TestPooled:
    async def test_shows_each_campaign_and_the_mean(self, stb: Stb, suite: RunningSuite):
        # X won three of four games and the fourth is a tie; in the second campaign X won all.
        paths = [await labelled_campaign(suite, {}, [("X", "Y")], ties=ties) for ties in (True, False)]
        ids = [path.rpartition("/")[2] for path in paths]
        done = await stb("campaigns", "pooled", *ids, "--result", "win-rates")
        assert done.returncode == 0
        pair = next(line for line in done.stdout.splitlines() if line.split()[:2] == ["X", "Y"])
        assert pair.split()[2:5] == ["1.00", "1.00", "1.00"]
        assert "Mean over campaigns, each with the same weight" in done.stderr
        ranks = await stb("campaigns", "pooled", *ids, "--result", "ranking")
        assert [line.split()[:2] for line in ranks.stdout.splitlines()[1:]] != []
        assert "Ranks" in ranks.stdout
        survival = (await stb("campaigns", "pooled", *ids, "--result", "survival")).stdout
        titles = [part.splitlines()[0] for part in survival.strip().split("\n\n")]
        assert [title.split(":")[0] for title in titles] == [
            "Share not yet spotted as a bot",
            "Scores of log-rank tests",
        ]  # no feature of so few games has a hazard ratio
        differ = await stb("campaigns", "pooled", *ids, "--result", "fooling-rates")
        assert "That no speaker differs between campaigns has p = " in differ.stderr
        found = json.loads((await stb("campaigns", "pooled", *ids, "--json", "-")).stdout)
        assert (found["result"], len(found["campaigns"])) == ("agreement", 2)

    async def test_refuses_one_campaign_in_one_sentence(self, stb: Stb, suite: RunningSuite):
        path = await labelled_campaign(suite, {}, [("X", "Y")])
        done = await stb("campaigns", "pooled", path.rpartition("/")[2])
        assert done.returncode == 2
        assert "name two or more" in " ".join(done.stderr.split())
