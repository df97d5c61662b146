"""`stb campaigns training`: how many people of each workforce passed a campaign's training."""

import json
from collections.abc import AsyncIterator

import pytest

from tests.factories.annotator_trainings import RIGHT, respond, start, training_campaign
from tests.factories.campaigns import campaign_of
from tests.factories.command_line import Stb, stb_of_admin
from tests.factories.running_suite import RunningSuite


@pytest.fixture
async def stb(suite: RunningSuite, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stb]:
    async with stb_of_admin(suite, monkeypatch) as run:
        yield run


class TestTraining:
    async def test_shows_pass_rates_and_who_was_right_enough_in_each_dialogue(self, stb: Stb, suite: RunningSuite):
        campaign = await training_campaign(suite)
        empty = await stb("campaigns", "training", campaign["name"])
        assert empty.stderr == "Nobody has started the training first_steps in this campaign.\n"
        await start(suite, campaign, "ann")
        for position in range(3):
            await respond(suite, campaign, "ann", position, RIGHT)
        await start(suite, campaign, "bob")
        header, row = (await stb("campaigns", "training", campaign["name"])).stdout.splitlines()
        assert header.split()[:2] == ["Frontend", "Shared"]
        assert row.split("  ")[-1].strip() == "1 of 1, 1 of 1, 1 of 1"
        assert "100%" in row
        found = json.loads((await stb("campaigns", "training", campaign["id"], "--json")).stdout)
        (workforce,) = found["workforces"]
        assert (workforce["people"], workforce["passed"], workforce["pass_rate"]) == (2, 1, 1.0)

    async def test_says_that_there_is_none(self, stb: Stb, suite: RunningSuite):
        campaign = await campaign_of(suite)
        done = await stb("campaigns", "training", campaign["id"])
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.endswith(f": The campaign '{campaign['name']}' has no training.\n")
