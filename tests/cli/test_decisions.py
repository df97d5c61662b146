"""`stb campaigns decisions`: when simulated annotators of a game spot its bots."""

import json
from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from spotthebot.local.seeding import simulated_annotators
from spotthebot.simulation.work import annotate
from tests.factories.campaigns import open_campaign
from tests.factories.command_line import Stb, stb_of_admin
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations


@pytest.fixture
async def stb(suite: RunningSuite, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stb]:
    async with stb_of_admin(suite, monkeypatch) as run:
        yield run


async def test_are_shown_as_exact_times_and_as_inspections(stb: Stb, suite: RunningSuite):
    talks = [conversation(f"c{at}", "X", "Y") for at in range(4)]
    collection = await import_conversations(suite, talks)
    game = {"protocol": "spot_the_bot_gamified", "segments": [3], "package_size": 2}
    campaign = str((await open_campaign(suite, collection, **game))["id"])
    tasks = await suite.annotation("annotation")
    await annotate(tasks, await tasks.get_campaign(UUID(campaign)), simulated_annotators(4, seed=1), lambda: None)
    done = await stb("campaigns", "decisions", campaign)
    assert done.returncode == 0
    shown = " ".join(done.stdout.split())
    assert "exact times" in shown
    assert "the same decisions as inspections" in shown
    assert "Kaplan-Meier (lifelines)" in shown
    found = json.loads((await stb("campaigns", "decisions", campaign, "--json", "-")).stdout)
    assert (found["sides"], found["simulated_annotators"]) == (16, 4)
    assert [curve["bot"] for curve in found["exact"]["curves"]] == ["X", "Y"]
