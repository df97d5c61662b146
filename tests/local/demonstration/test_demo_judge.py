"""The demonstration's judge on a small campaign: what it is worth, and the reasons why that is unknown."""

from typing import Any

import pytest

from spotthebot.cli.commands.judge_worth import summary_lines
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.local.demonstration.judge import DemoJudges, judge_demo
from spotthebot.local.progress import showing_progress
from spotthebot.local.runtime.session import Clients
from spotthebot.local.sample import sample_dialogues
from spotthebot.local.seeding import simulated_annotators
from spotthebot.simulation.work import annotate
from tests.factories.campaigns import campaign_of_talks, talk
from tests.factories.running_suite import RunningSuite

SEED = 7
TALKS = [talk(each["key"], *each["turns"][:6]) for each in sample_dialogues() if each["split"] == "openings"][:20]


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics")


async def labelled_campaign(suite: RunningSuite, annotators: int) -> CampaignOut:
    made = await campaign_of_talks(suite, *TALKS, annotations_per_segment=2)
    campaign = await (await suite.annotation("admin")).get_campaign(made["id"])
    crowd = simulated_annotators(annotators, seed=SEED)
    await annotate(await suite.annotation("annotation"), campaign, crowd, lambda: None)
    return campaign


async def judged(suite: RunningSuite, campaign: CampaignOut, role: str = "admin") -> DemoJudges:
    keys = {"admin_key": await suite.keys.make(role), "frontend_key": await suite.keys.make("annotation")}
    async with Clients(suite.urls, **keys) as clients:
        with showing_progress() as steps:
            return await judge_demo(clients, campaign, steps, seed=SEED)


async def labels(suite: RunningSuite, campaign: CampaignOut, **asked: str) -> dict[str, dict[str, Any]]:
    """Return the labels of both sides by annotator and conversation."""
    client = await suite.client("annotation", "analyst")
    listed = await client.get(f"/v1/campaigns/{campaign.id}/annotations", params={"limit": 100, **asked})
    found: dict[str, dict[str, Any]] = {}
    for each in listed.json()["items"]:
        found.setdefault(each["annotator"], {})[each["conversation_id"]] = each["answer"]["entity"]
    return found


class TestJudgeDemo:
    async def test_returns_what_the_endpoint_says_of_a_judge_of_every_segment(self, suite: RunningSuite):
        campaign = await labelled_campaign(suite, annotators=2)
        found = await judged(suite, campaign)
        assert found.judges is not None, found.reason
        (judge,) = found.judges.judges
        assert (judge.kind, judge.segments, judge.missing) == ("simulated", len(TALKS), 0)
        path = f"/v1/campaigns/{campaign.id}/judges"
        stated = (await (await suite.client("analytics", "analyst")).get(path)).json()
        assert found.judges.model_dump(mode="json")["judges"] == stated["judges"]
        bot = judge.bots[0]
        assert bot.why_unchanged is not None
        assert any(line.endswith(f": {bot.why_unchanged}") for line in summary_lines(found.judges))

    async def test_agrees_with_people_as_often_as_their_labels_are_equal(self, suite: RunningSuite):
        campaign = await labelled_campaign(suite, annotators=2)
        found = await judged(suite, campaign)
        assert found.judges is not None, found.reason
        both = await labels(suite, campaign, judges="*")
        (name,) = set(both) - set(await labels(suite, campaign))
        of_judge = both.pop(name)
        first, second = both.values()
        pairs = [(each[key][side], of_judge[key][side]) for each in (first, second) for key in each for side in "AB"]
        agreement = found.judges.judges[0].agreement
        assert agreement.judge.share.estimate == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))
        same = [first[key][side] == second[key][side] for key in first for side in "AB"]
        assert agreement.people.share.estimate == pytest.approx(sum(same) / len(same))

    async def test_says_that_a_key_may_not_add_judges(self, suite: RunningSuite):
        found = await judged(suite, await labelled_campaign(suite, annotators=2), role="analyst")
        assert found.judges is None
        assert "this needs one of: admin" in str(found.reason)

    async def test_says_that_nobody_labelled(self, suite: RunningSuite):
        found = await judged(suite, await labelled_campaign(suite, annotators=0))
        assert found.judges is None
        assert "Nobody has submitted a package" in str(found.reason)
