"""The events of `annotation`: one for each change, signed, to the operator and to the frontend that it belongs to."""

import asyncio
import json
from collections import Counter
from typing import Any

import pytest
from standardwebhooks import Webhook

from tests.factories.annotating import answer_items, ask, claim, rows, submit, work_through
from tests.factories.bot_servers import bot
from tests.factories.campaigns import campaign_of
from tests.factories.running_suite import EAGER_DELIVERIES, RunningSuite
from tests.factories.studies import created
from tests.factories.subscribers import settled, subscribe

SUBMITTED = "assignment.submitted"
LONGEST_TEAM = "t" * 100


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return "bots", "conversations", "annotation"


@pytest.fixture(scope="module")
def settings_of() -> dict[str, dict[str, Any]]:
    return {"annotation": EAGER_DELIVERIES}


class TestSubmittedAssignments:
    async def test_are_sent_signed_and_say_neither_who_annotated_nor_who_spoke(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        async with bot(lambda _: {}) as (subscriber, url):
            made = await subscribe(suite, url, SUBMITTED, service="annotation")
            assignment = await claim(suite, campaign, "Ada Lovelace")
            done = await work_through(suite, assignment)
            await settled(suite, made, service="annotation")
        message = Webhook(made["secret"]).verify(subscriber.bodies[0], subscriber.headers[0])
        assert message["type"] == SUBMITTED
        assert message["data"]["campaign"] == {"id": campaign["id"], "name": "c"}
        assert message["data"]["assignment"]["id"] == assignment["id"]
        assert message["data"]["assignment"]["annotations"] == len(assignment["items"])
        assert set(message["data"]) == {"campaign", "assignment", "frontend"}
        for secret in ("Ada", "Lovelace", "SECRET", done["completion_code"]):
            assert secret not in subscriber.bodies[0].decode()

    async def test_are_published_once_each_under_repeated_and_concurrent_submits(self, suite: RunningSuite):
        campaign = await campaign_of(suite, annotations_per_segment=3)
        assignments = [await claim(suite, campaign, f"annotator {number}") for number in range(6)]
        for assignment in assignments:
            await answer_items(suite, assignment)
        answers = await asyncio.gather(*(submit(suite, each) for each in assignments for _ in range(3)))
        assert {each.status_code for each in answers} == {200}
        published = _published(suite, SUBMITTED)
        assert Counter(each["assignment"]["id"] for each in published) == {each["id"]: 1 for each in assignments}

    async def test_are_not_published_where_a_submit_is_refused(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        assert (await submit(suite, await claim(suite, campaign, "ann"))).status_code == 409
        assert _published(suite) == []

    async def test_go_to_the_operator_and_to_their_own_frontend(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        async with bot(lambda _: {}) as (ours, our_url), bot(lambda _: {}) as (all_of_them, url):
            mine = await subscribe(
                suite, our_url, SUBMITTED, team=LONGEST_TEAM, service="annotation", role="annotation"
            )
            made = await subscribe(suite, url, SUBMITTED, service="annotation")
            finished = {}
            for team in (LONGEST_TEAM, "theirs"):
                assignment = (await ask(suite, campaign, "ann", team=team)).json()
                await _work_through_as(suite, assignment, team)
                finished[team] = assignment["id"]
            await settled(suite, made, 2, service="annotation")
            await settled(suite, mine, service="annotation")
            frontend = await suite.client("annotation", "annotation", team=LONGEST_TEAM)
            listed = (await frontend.get("/v1/events")).json()["items"]
        assert mine["team"] == f"team {LONGEST_TEAM}"
        assert {each["data"]["assignment"]["id"] for each in all_of_them.asked} == set(finished.values())
        (message,) = ours.asked
        assert message["data"]["assignment"]["id"] == finished[LONGEST_TEAM]
        assert "frontend" not in message["data"]
        assert [each["data"] for each in listed] == [message["data"]]


class TestFrontends:
    async def test_subscribe_to_their_own_events_alone(self, suite: RunningSuite):
        frontend = await suite.client("annotation", "annotation")
        request = {"url": "http://127.0.0.1:9/hooks", "events": ["campaign.completed"]}
        refused = await frontend.post("/v1/subscriptions", json=request)
        assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/events")
        mine = await created(frontend, "/v1/subscriptions", request | {"events": [SUBMITTED]})
        assert mine["team"].startswith("key ")
        other = await suite.client("annotation", "annotation", team="theirs")
        path = f"/v1/subscriptions/{mine['id']}"
        answers = [await other.get(path), await other.delete(path), await other.post(f"{path}/test")]
        assert [each.status_code for each in answers] == [404] * 3
        assert (await other.get("/v1/subscriptions")).json()["items"] == []

    @pytest.mark.parametrize("role", ["analyst", "service", "team"])
    async def test_are_the_only_subscribers_beside_the_operator(self, suite: RunningSuite, role: str):
        client = await suite.client("annotation", role, team="ours" if role == "team" else None)
        for path in ("/v1/subscriptions", "/v1/events"):
            assert (await client.get(path)).status_code == 403


class TestCampaigns:
    async def test_complete_once_with_the_last_of_concurrent_submits(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        needed = campaign["packages"] * 2
        assignments = [await claim(suite, campaign, f"annotator {number}") for number in range(needed)]
        for assignment in assignments:
            await answer_items(suite, assignment)
        await asyncio.gather(*(submit(suite, each) for each in assignments for _ in range(2)))
        assert _published(suite, "campaign.completed") == [
            {
                "campaign": {"id": campaign["id"], "name": "c"},
                "packages": campaign["packages"],
                "submitted": needed,
                "annotations": campaign["items"] * 2,
            }
        ]

    async def test_close_once_however_often_they_are_closed(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        admin = await suite.client("annotation", "admin")
        await asyncio.gather(*(admin.post(f"/v1/campaigns/{campaign['id']}/close") for _ in range(4)))
        (closed,) = _published(suite, "campaign.closed")
        assert closed["campaign"]["id"] == campaign["id"]


class TestBlockedAnnotators:
    async def test_are_published_once_without_name_and_reason(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        await claim(suite, campaign, "Ada Lovelace")
        admin = await suite.client("annotation", "admin")
        path = f"/v1/campaigns/{campaign['id']}/annotators"
        (annotator,) = (await admin.get(path)).json()["items"]
        block = f"{path}/{annotator['id']}/block"
        await asyncio.gather(*(admin.post(block, json={"reason": "drunk"}) for _ in range(4)))
        named = {"campaign": {"id": campaign["id"], "name": "c"}, "annotator": {"id": annotator["id"]}}
        assert _published(suite, "annotator.blocked") == [named]
        audit = (await admin.get(f"/v1/campaigns/{campaign['id']}/audit")).json()["items"]
        assert [each["action"] for each in audit] == ["annotator.blocked"]


def _published(suite: RunningSuite, kind: str | None = None) -> list[dict[str, Any]]:
    found = rows(suite, "SELECT type, data::text FROM annotation.events ORDER BY id")
    return [json.loads(data) for each, data in found if kind in {None, each}]


async def _work_through_as(suite: RunningSuite, assignment: dict[str, Any], team: str) -> None:
    frontend = await suite.client("annotation", "annotation", team=team)
    whole = {"entity": {"A": "human", "B": "bot"}, "fluency": "A", "sensibleness": "A", "specificity": "tie"}
    for item in assignment["items"]:
        path = f"/v1/assignments/{assignment['id']}/items/{item['position']}"
        for answer in ({"answer": {"entity": whole["entity"]}, "show_step": 2}, {"answer": whole}):
            assert (await frontend.put(path, json=answer)).status_code == 200
    assert (await frontend.post(f"/v1/assignments/{assignment['id']}/submit")).status_code == 200
