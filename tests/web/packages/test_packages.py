"""The script of a package acts for the annotator of the cookie, on packages of theirs alone."""

from typing import Any
from uuid import uuid4

import pytest

from tests.factories.campaigns import campaign_of_talks, talk
from tests.factories.pages import entered, entry_path, held_package
from tests.factories.running_suite import RunningSuite
from tests.factories.served import served

JSON = {"Accept": "application/json"}
PROLIFIC = {"kind": "prolific", "completion_code": "C1ODE7"}
PERSON = "5f8d0a1b2c3d4e5f6a7b8c9d"


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("conversations", "annotation", "web")


class TestPackages:
    async def test_given_to_others_are_not_found(self, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c"))
        async with entered(suite, await entry_path(suite, campaign)) as client:
            held = await held_package(suite, campaign)
            path = f"/annotate/{campaign['id']}/packages/{held.id}"
            assert (await client.get(path, headers=JSON)).json()["annotator"] == "ann"
        async with entered(suite, await entry_path(suite, campaign, "eve")) as eve:
            tried = [
                await eve.get(path, headers=JSON),
                await eve.put(f"{path}/items/0", json={"answer": {"entity": {"A": "bot"}}}, headers=JSON),
                await eve.post(f"{path}/items/0/exchanges", json={"open": 1}, headers=JSON),
                await eve.post(f"{path}/heartbeat", json={"position": 0}, headers=JSON),
                await eve.post(f"{path}/submit", headers=JSON),
                await eve.get(f"/annotate/{campaign['id']}/done/{held.id}"),
            ]
            unknown = await eve.get(f"/annotate/{campaign['id']}/packages/{uuid4()}", headers=JSON)
        assert [each.status_code for each in tried] == [404] * 6
        assert unknown.status_code == 404
        assert (await held_package(suite, campaign)).items[0].answer == {}

    async def test_belong_to_the_annotator_of_the_cookie_also_where_a_request_names_another(self, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c"))
        held = await held_package(suite, campaign)
        forged = {"holder": {"campaign_id": campaign["id"], "annotator": "ann"}}
        async with entered(suite, await entry_path(suite, campaign, "eve")) as eve:
            path = f"/annotate/{campaign['id']}/packages/{held.id}"
            tried = [
                await eve.put(f"{path}/items/0", json={"answer": {"entity": {"A": "bot"}}} | forged, headers=JSON),
                await eve.post(f"{path}/items/0/exchanges", json={"open": 1} | forged, headers=JSON),
                await eve.post(f"{path}/heartbeat", json={"position": 0} | forged, headers=JSON),
                await eve.post(f"{path}/submit", json=forged, headers=JSON),
            ]
        assert [each.status_code for each in tried] == [404] * 4

    async def test_take_one_request_for_each_save(self, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c"))
        held = await held_package(suite, campaign)
        async with entered(suite, await entry_path(suite, campaign)) as client:
            path, before = f"/annotate/{campaign['id']}/packages/{held.id}/items/0", served(suite)
            saved = await client.put(path, json={"answer": {"entity": {"A": "bot"}}}, headers=JSON)
            asked = served(suite) - before
        assert saved.status_code == 200
        assert sorted(asked.items()) == [
            (("annotation", "PUT", "/v1/assignments/{assignment_id}/items/{position}"), 1),
            (("web", "PUT", "/annotate/{campaign_id}/packages/{assignment_id}/items/{position}"), 1),
        ]

    async def test_ask_for_the_cookie_of_their_campaign(self, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c"))
        async with entered(suite, await entry_path(suite, campaign)) as client:
            held = await held_package(suite, campaign)
            path = f"packages/{held.id}/items/0"
            body: dict[str, Any] = {"answer": {}}
            assert (await client.put(f"/annotate/{uuid4()}/{path}", json=body, headers=JSON)).status_code == 401
            client.cookies.clear()
            refused = await client.put(f"/annotate/{campaign['id']}/{path}", json=body, headers=JSON)
        assert (refused.status_code, refused.headers["content-type"]) == (401, "application/problem+json")

    async def test_are_refused_with_the_reason_of_the_service(self, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c"))
        async with entered(suite, await entry_path(suite, campaign)) as client:
            path = f"/annotate/{campaign['id']}/packages/{(await held_package(suite, campaign)).id}"
            refused = await client.put(f"{path}/items/0", json={"answer": {"entity": {"A": "robot"}}}, headers=JSON)
            assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/answer/entity/A")
            huge = {"answer": {"entity": {"A": "x" * 2_000_000}}}
            assert (await client.put(f"{path}/items/0", json=huge, headers=JSON)).status_code == 413
