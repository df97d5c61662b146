"""A person who calls themselves a program, to be left out of what is said of people, or to be believed."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

import httpx
import pytest

from spotthebot.contracts.conversations.exports import ExportedConversation
from spotthebot.kit.crypto.pseudonyms import is_pseudonym
from tests.factories.annotating import WHOLE, claim, movable_clock, save, submit
from tests.factories.campaigns import CONVERSATIONS, open_campaign
from tests.factories.frontends import open_chats, rate, ratings, talk, two_bots
from tests.factories.judges import store_judge
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created, import_conversations

GENERIC = {"kind": "generic", "parameter": "pid"}
NAME = "simulated-1"


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics")


async def public_campaign(suite: RunningSuite) -> tuple[dict[str, Any], str]:
    """Open a campaign of one package whose people a panel names; return it with the token of a link."""
    collection = await import_conversations(suite, CONVERSATIONS[:2])
    campaign = await open_campaign(suite, collection, segments=[1], package_size=2, panel=GENERIC)
    admin = await suite.client("annotation", "admin")
    link = await created(admin, f"/v1/campaigns/{campaign['id']}/entry-links", {})
    return campaign, dict(parse_qsl(link["query"]))["entry"]


async def enter(suite: RunningSuite, token: str, person: str = NAME) -> httpx.Response:
    frontend = await suite.client("annotation", "annotation")
    return await frontend.post("/v1/entries", json={"parameters": {"entry": token, "pid": person}})


async def ask(suite: RunningSuite, campaign: Mapping[str, Any], **body: Any) -> tuple[int, str]:
    """Claim a package; return the status and the type of the problem."""
    frontend = await suite.client("annotation", "annotation")
    answer = await frontend.post(f"/v1/campaigns/{campaign['id']}/assignments", json=body)
    return answer.status_code, answer.json().get("type", "").rpartition(":")[2]


class TestAnnotators:
    async def test_called_like_a_program_are_people_in_exports_and_results(self, suite: RunningSuite):
        campaign, token = await public_campaign(suite)
        entry = (await enter(suite, token)).json()
        assert is_pseudonym(entry["pseudonym"])
        clock = movable_clock(suite)
        held = await claim(suite, campaign, NAME, link=entry["link_id"])
        for position in (0, 1):
            clock.advance(seconds=30)
            assert (await save(suite, held, position, {"entity": WHOLE["entity"]}, show_step=2)).status_code == 200
            assert (await save(suite, held, position, WHOLE, elapsed_ms=1)).status_code == 200
        assert (await submit(suite, held)).json()["pseudonym"] == entry["pseudonym"]
        analyst = await suite.client("annotation", "analyst")
        found = (await analyst.get(f"/v1/campaigns/{campaign['id']}/annotations")).json()["items"]
        assert {(each["annotator"], each["annotator_kind"]) for each in found} == {(entry["pseudonym"], "person")}
        analyst = await suite.client("analytics", "analyst")
        parameters = {"filter": "none"}
        time = (await analyst.get(f"/v1/campaigns/{campaign['id']}/time", params=parameters)).json()
        counts = time["counts"]
        assert (counts["annotators"], counts["simulated_annotators"], counts["judges"]) == (1, 0, 0)
        assert time["time"]["median_seconds"] == pytest.approx(30, abs=1), "nobody believes a person's own times"

    async def test_claim_as_no_program_after_they_came_by_a_link(self, suite: RunningSuite):
        campaign, token = await public_campaign(suite)
        link = (await enter(suite, token)).json()["link_id"]
        for kind in ({"kind": "simulated"}, {"kind": "judge", "judge": await store_judge(suite)}):
            assert await ask(suite, campaign, annotator=NAME, link=link, **kind) == (409, "other-annotator-kind")
            assert await ask(suite, campaign, annotator=NAME, **kind) == (409, "other-annotator-kind")
        assert (await ask(suite, campaign, annotator=NAME, link=link))[0] == 201

    async def test_do_not_come_by_a_link_under_the_name_of_a_program_and_take_its_package(self, suite: RunningSuite):
        campaign, token = await public_campaign(suite)
        held = await claim(suite, campaign, NAME, kind="simulated")
        refused = await enter(suite, token)
        assert (refused.status_code, refused.json()["type"].rpartition(":")[2]) == (409, "other-annotator-kind")
        assert (await claim(suite, campaign, NAME, kind="simulated"))["id"] == held["id"]
        admin = await suite.client("annotation", "admin")
        (link,) = (await admin.get(f"/v1/campaigns/{campaign['id']}/entry-links")).json()["items"]
        assert link["annotators"] == 0


class TestPeopleWhoChat:
    async def test_called_like_a_program_are_people(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite))
        assert await _begin(suite, collection_id, link="mail", kind="simulated") == (409, "other-interactor-kind")
        status, chat = await _begin(suite, collection_id, link="mail")
        assert status == 201
        assert await _begin(suite, collection_id, kind="judge") == (409, "other-interactor-kind")
        await talk(suite, {"id": chat})
        assert (await rate(suite, {"id": chat}, ratings(1, 2))).status_code == 200
        assert await _said(suite, collection_id) == {("person", True)}

    async def test_programs_of_a_frontend_keep_their_names_and_nobody_takes_their_chat(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite))
        status, chat = await _begin(suite, collection_id, kind="simulated")
        assert status == 201
        assert await _begin(suite, collection_id, kind="simulated") == (201, chat)
        for more in ({}, {"link": "mail"}, {"link": "mail", "kind": "simulated"}):
            assert await _begin(suite, collection_id, **more) == (409, "other-interactor-kind")
        frontend = await suite.client("conversations", "annotation")
        query = {"collection_id": collection_id, "interactor": NAME}
        assert (await frontend.get("/v1/chats", params=query | {"link": "mail"})).status_code == 409
        assert [each["id"] for each in (await frontend.get("/v1/chats", params=query)).json()["items"]] == [chat]
        await talk(suite, {"id": chat})
        assert (await rate(suite, {"id": chat}, ratings(1, 2))).status_code == 200
        assert await _said(suite, collection_id) == {("simulated", False)}
        name = "p-0123456789abcdefghijklmnop"
        assert await _begin(suite, collection_id, interactor=name, kind="judge") == (422, "program-name-unusable")


async def _begin(suite: RunningSuite, collection_id: str, **more: Any) -> tuple[int, str]:
    frontend = await suite.client("conversations", "annotation")
    answer = await frontend.post("/v1/chats", json={"collection_id": collection_id, "interactor": NAME} | more)
    return answer.status_code, answer.json().get("id") or answer.json()["type"].rpartition(":")[2]


async def _said(suite: RunningSuite, collection_id: str) -> set[tuple[str, bool]]:
    """Return the kind of who chatted, and whether they have a pseudonym, as ratings, chats, people and export say."""
    path = f"/v1/collections/{collection_id}"
    analyst, admin = [await suite.client("conversations", role) for role in ("analyst", "admin")]
    rated = [
        *(await analyst.get(f"{path}/ratings")).json()["items"],
        *(await analyst.get(f"{path}/chats")).json()["items"],
    ]
    people = (await admin.get(f"{path}/chat-people")).json()["items"]
    answer = await analyst.get(f"{path}/export", params={"format": "ndjson"})
    exported = [ExportedConversation.model_validate_json(line).rating for line in answer.text.splitlines()]
    found = {(each["interactor_kind"], each["interactor"]) for each in rated}
    found |= {(each["kind"], each["interactor"]) for each in people}
    found |= {(each.interactor_kind.value, each.interactor) for each in exported if each is not None}
    assert len(exported) == 2
    return {(kind, is_pseudonym(name)) for kind, name in found}
