"""What is known of an annotator while a campaign runs."""

from typing import Any
from uuid import uuid4

from spotthebot.annotation.reviews.domain import Agreement, agreement
from spotthebot.contracts.annotation.annotations import Answer
from tests.factories.annotating import WHOLE, claim, movable_clock, save, submit, work_through
from tests.factories.campaigns import campaign_of
from tests.factories.protocols import protocol, single
from tests.factories.running_suite import RunningSuite


class TestAgreement:
    def test_is_counted_by_question_for_each_side_and_turn_that_both_answered(self):
        boxes = {
            "id": "boxes",
            "kind": "multiple",
            "text": "?",
            "per": "turn",
            "required": False,
            "choices": [{"value": "a", "text": "a"}, {"value": "b", "text": "b"}],
        }
        text = {"id": "why", "kind": "text", "text": "?"}
        by = protocol([single("q", "yes", "no"), boxes, text], unit={"kind": "turns", "speaker": "both"})
        one: Answer = {"q": "yes", "boxes": {"0": ["a", "b"], "1": [], "2": ["a"]}, "why": "x"}
        other: Answer = {"q": "no", "boxes": {"0": ["b", "a"], "1": ["a"]}, "why": "x"}
        # Turn 0 holds the same boxes in another order, turn 1 other ones, and turn 2 has one answer alone.
        assert agreement(by, [(one, other)]) == {"q": Agreement(1, 0), "boxes": Agreement(2, 1)}


class TestQuality:
    async def test_is_known_while_the_campaign_runs(self, suite: RunningSuite):
        clock = movable_clock(suite)
        campaign = await campaign_of(suite, package_size=2)
        assignment = await claim(suite, campaign, "w")
        for item, seconds in zip(assignment["items"], (10, 30), strict=True):
            clock.advance(seconds=seconds)
            await save(suite, assignment, item["position"], {"entity": WHOLE["entity"]}, show_step=2)
            await save(suite, assignment, item["position"], WHOLE)
        assert (await submit(suite, assignment)).status_code == 200
        mine = await _quality(suite, campaign, "w")
        # The median of 10 s and 30 s; nobody else has labelled the items.
        assert mine["annotations"] == 2
        assert round(mine["median_seconds"]) == 20
        assert mine["agreement"] == {}
        another = await claim(suite, campaign, "other")
        await work_through(suite, another, WHOLE | {"entity": {"A": "human", "B": "human"}, "fluency": "B"})
        agreed = (await _quality(suite, campaign, "w"))["agreement"]
        # Two items: side A and the two other features are equal, side B and fluency are not.
        assert agreed == {
            "entity": {"compared": 4, "equal": 2},
            "fluency": {"compared": 2, "equal": 0},
            "sensibleness": {"compared": 2, "equal": 2},
            "specificity": {"compared": 2, "equal": 2},
        }

    async def test_is_for_administrators_and_of_the_campaigns_annotators(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        await claim(suite, campaign, "w")
        path = f"/v1/campaigns/{campaign['id']}/annotators"
        admin = await suite.client("annotation", "admin")
        (annotator,) = (await admin.get(path)).json()["items"]
        fresh = (await admin.get(f"{path}/{annotator['id']}/quality")).json()
        unknown: dict[str, Any] = {
            "annotations": 0,
            "median_seconds": None,
            "others_median_seconds": None,
            "agreement": {},
        }
        assert fresh == {"annotator": annotator, **unknown}
        assert (await admin.get(f"{path}/{uuid4()}/quality")).status_code == 404
        frontend = await suite.client("annotation", "annotation")
        assert (await frontend.get(f"{path}/{annotator['id']}/quality")).status_code == 403


async def _quality(suite: RunningSuite, campaign: dict[str, Any], name: str) -> dict[str, Any]:
    admin = await suite.client("annotation", "admin")
    path = f"/v1/campaigns/{campaign['id']}/annotators"
    listed = (await admin.get(path)).json()["items"]
    annotator = next(each for each in listed if each["annotator"] == name)
    found: dict[str, Any] = (await admin.get(f"{path}/{annotator['id']}/quality")).json()
    return found
