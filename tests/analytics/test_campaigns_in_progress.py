"""Annotators' correctness while their campaign is open: it needs who speaks, which analytics alone knows."""

from tests.factories.annotating import WHOLE, claim, state_of, work_through
from tests.factories.campaigns import open_campaign
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations


async def test_annotators_who_were_right_are_known_before_the_campaign_is_over(suite: RunningSuite):
    spoken = [conversation(f"c{number}", "X", "Y") for number in range(3)] + [conversation("hh", "HU", "HU")]
    collection = await import_conversations(suite, spoken)
    campaign = await open_campaign(suite, collection, segments=[1], package_size=4)
    bots, people = {"A": "bot", "B": "bot"}, {"A": "human", "B": "human"}
    await work_through(suite, await claim(suite, campaign, "w"), WHOLE | {"entity": bots})
    assert (await state_of(suite, campaign))["state"] == "open"
    analyst = await suite.client("analytics", "analyst")
    path = f"/v1/campaigns/{campaign['id']}/annotators"
    found = (await analyst.get(path)).json()["annotators"]
    # Three conversations of bots are labelled rightly, that of people wrongly, on two sides each: 6 of 8.
    assert [(each["correctness"], each["human_correctness"]) for each in found["annotators"]] == [(0.75, 0)]
    await work_through(suite, await claim(suite, campaign, "other"), WHOLE | {"entity": people})
    found = (await analyst.get(path)).json()["annotators"]
    assert sorted(each["correctness"] for each in found["annotators"]) == [0.25, 0.75]
