"""What one person can do with a public entry link: made-up ids, packages held for ever, a cookie that outlives them."""

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

import httpx
import pytest

from spotthebot.kit.web.core.new_people import NewPeople
from tests.factories.annotating import DECISION, claim, movable_clock, rows, save
from tests.factories.annotator_trainings import gold_dialogue, store_training
from tests.factories.campaigns import CONVERSATIONS, open_campaign
from tests.factories.pages import entered, entry_path, held_package
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created, import_conversations

PROLIFIC = {"kind": "prolific", "completion_code": "C1ODE7"}
JSON = {"Accept": "application/json"}


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("conversations", "annotation", "web")


@pytest.fixture(autouse=True)
def _new_limits(suite: RunningSuite) -> None:
    """Forget who came in earlier tests, and let no time pass, however slow the machine is."""
    state = suite.apps["annotation"].state
    new_people = NewPeople(state.core.settings, clock=lambda: 0.0)
    state.resources = replace(state.resources, new_people=new_people)


def made_up(number: int) -> str:
    """Return an id that could be Prolific's."""
    return f"{number:024x}"


async def public_campaign(suite: RunningSuite, **more: Any) -> dict[str, Any]:
    """Open a campaign of four packages of one item, for two annotators each, whose people a panel names."""
    collection = await import_conversations(suite, CONVERSATIONS)
    small = {"segments": [1], "package_size": 1, "panel": PROLIFIC, "packages_per_annotator": 1}
    return await open_campaign(suite, collection, **small | more)


async def link_of(suite: RunningSuite, campaign: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    admin = await suite.client("annotation", "admin")
    return await created(admin, f"/v1/campaigns/{campaign['id']}/entry-links", more)


def path_of(campaign: Mapping[str, Any], link: Mapping[str, Any], person: str, **more: str) -> str:
    """Return the address of a link as the panel fills it in for a person."""
    query = dict(parse_qsl(link["query"])) | {"PROLIFIC_PID": person}
    kept = {name: value for name, value in query.items() if "{" not in value} | more
    return f"/annotate/{campaign['id']}?" + "&".join(f"{name}={value}" for name, value in kept.items())


async def come(suite: RunningSuite, path: str) -> httpx.Response:
    """Follow a link in a new browser, and ask for a package; returns the last answer."""
    async with httpx.AsyncClient(base_url=suite.urls["web"], trust_env=False, timeout=30) as client:
        client.headers["Accept"] = "text/html"
        entry = await client.get(path)
        return await client.get(entry.headers["location"]) if entry.status_code == 303 else entry


def leased(suite: RunningSuite, campaign: Mapping[str, Any]) -> int:
    found = rows(suite, "SELECT campaign_id::text FROM annotation.assignments WHERE state = 'leased'")
    return found.count((campaign["id"],))


async def links_of(suite: RunningSuite, campaign: Mapping[str, Any]) -> list[dict[str, Any]]:
    admin = await suite.client("annotation", "admin")
    listed = await admin.get(f"/v1/campaigns/{campaign['id']}/entry-links")
    assert listed.status_code == 200
    return listed.json()["items"]


class TestMadeUpIds:
    async def test_from_one_address_are_few_a_minute_and_take_no_campaign(self, suite: RunningSuite):
        campaign = await public_campaign(suite)
        link = await link_of(suite, campaign)
        answers = [await come(suite, path_of(campaign, link, made_up(number))) for number in range(12)]
        by_status = [answer.status_code for answer in answers]
        assert by_status == [200] * 5 + [429] * 7
        assert leased(suite, campaign) == 5, "of eight slots"
        assert 15 <= int(answers[-1].headers["Retry-After"]) <= 60
        (listed,) = await links_of(suite, campaign)
        assert (listed["annotators"], listed["max_annotators"]) == (5, 16)

    async def test_do_not_keep_out_who_returns(self, suite: RunningSuite):
        campaign = await public_campaign(suite)
        link = await link_of(suite, campaign)
        for _ in range(2):
            answers = [await come(suite, path_of(campaign, link, made_up(number))) for number in range(8)]
            assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 3

    async def test_from_many_addresses_are_few_a_minute_for_a_link(self, suite: RunningSuite):
        campaign = await public_campaign(suite)
        link, other = [await link_of(suite, campaign) for _ in range(2)]
        frontend = await suite.client("annotation", "annotation")

        async def enter(by: Mapping[str, Any], number: int) -> httpx.Response:
            parameters = {"entry": dict(parse_qsl(by["query"]))["entry"], "PROLIFIC_PID": made_up(number)}
            asked = {"parameters": parameters, "address": f"198.51.100.{number}"}
            return await frontend.post("/v1/entries", json=asked)

        statuses = [(await enter(link, number)).status_code for number in range(24)]
        assert statuses == [200] * 16 + [409] * 4 + [429] * 4  # the link is for 16, and lets in 20 a minute
        assert (await enter(other, 99)).status_code == 200

    async def test_from_one_network_count_as_of_one_address(self, suite: RunningSuite):
        campaign = await public_campaign(suite)
        token = dict(parse_qsl((await link_of(suite, campaign))["query"]))["entry"]
        frontend = await suite.client("annotation", "annotation")
        answers = [
            await frontend.post(
                "/v1/entries",
                json={
                    "parameters": {"entry": token, "PROLIFIC_PID": made_up(number)},
                    "address": f"2001:db8::{number + 1:x}",
                },
            )
            for number in range(7)
        ]
        assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 2
        assert "198.51" not in str(rows(suite, "SELECT * FROM annotation.entries"))
        assert "2001:db8" not in str(rows(suite, "SELECT * FROM annotation.entries"))


class TestSignedIds:
    async def test_let_in_those_alone_whom_the_panel_signed_however_many(self, suite: RunningSuite):
        campaign = await public_campaign(suite)
        link = await link_of(suite, campaign, signed_ids=True)

        def signature(person: str, key: str = link["signing_key"]) -> str:
            return hmac.new(key.encode(), person.encode(), hashlib.sha256).hexdigest()

        people = [made_up(number) for number in range(8)]
        for person in people:
            shown = await come(suite, path_of(campaign, link, person, id_signature=signature(person)))
            assert shown.status_code == 200
        forged: tuple[dict[str, str], ...] = (
            {},
            {"id_signature": ""},
            {"id_signature": signature(people[0])},
            {"id_signature": signature("eve", "0" * 64)},
            {"id_signature": "ü" * 64},
        )
        for more in forged:
            refused = await come(suite, path_of(campaign, link, made_up(99), **more))
            assert refused.status_code == 422, more
        other = await link_of(suite, campaign, signed_ids=True)
        assert other["signing_key"] != link["signing_key"]
        assert (await link_of(suite, campaign))["signing_key"] is None
        assert sum(each["annotators"] for each in await links_of(suite, campaign)) == 8


class TestRevokedLinks:
    async def test_let_in_nobody_and_free_what_nobody_worked_on(self, suite: RunningSuite):
        campaign = await public_campaign(suite)
        link = await link_of(suite, campaign)
        admin = await suite.client("annotation", "admin")
        path = f"/v1/campaigns/{campaign['id']}/entry-links/{link['id']}"
        async with (
            entered(suite, path_of(campaign, link, made_up(1))) as idle,
            entered(suite, path_of(campaign, link, made_up(2))) as worker,
        ):
            for client in (idle, worker):
                assert (await client.get(f"/annotate/{campaign['id']}")).status_code == 200
            package = f"/annotate/{campaign['id']}/packages/{(await held_package(suite, campaign, made_up(2))).id}"
            answered = await worker.put(f"{package}/items/0", json={"answer": DECISION}, headers=JSON)
            assert answered.status_code == 200
            for _ in range(2):
                assert (await admin.delete(path)).status_code == 204
            assert leased(suite, campaign) == 1
            assert "This link was revoked" in (await idle.get(f"/annotate/{campaign['id']}")).text
            assert (await worker.get(package, headers=JSON)).json()["state"] == "leased"
            assert (await worker.get(f"/annotate/{campaign['id']}")).status_code == 200
        refused = await come(suite, path_of(campaign, link, made_up(3)))
        assert refused.status_code == 409
        assert "revoked" in refused.text
        again = await come(suite, path_of(campaign, link, made_up(1)))
        assert again.status_code == 409
        audit = (await admin.get(f"/v1/campaigns/{campaign['id']}/audit")).json()["items"]
        assert [(each["action"], each["details"]) for each in audit] == [("entry_link.revoked", {"link": link["id"]})]

    async def test_are_revoked_by_administrators_and_the_frontend_that_made_them(self, suite: RunningSuite):
        campaign = await public_campaign(suite)
        ours = await suite.client("annotation", "annotation", team="ours")
        theirs = await suite.client("annotation", "annotation", team="theirs")
        made = await created(ours, f"/v1/campaigns/{campaign['id']}/entry-links", {})
        path = f"/v1/campaigns/{campaign['id']}/entry-links/{made['id']}"
        assert (await theirs.delete(path)).status_code == 404
        assert (await (await suite.client("annotation", "analyst")).delete(path)).status_code == 403
        other = await public_campaign(suite)
        admin = await suite.client("annotation", "admin")
        elsewhere = await admin.delete(f"/v1/campaigns/{other['id']}/entry-links/{made['id']}")
        assert elsewhere.status_code == 404
        assert (await ours.delete(path)).status_code == 204


class TestPackagesOfIdleAnnotators:
    async def test_are_kept_by_signs_of_life_for_two_leases_and_not_for_ever(self, suite: RunningSuite):
        campaign = await public_campaign(suite, annotations_per_segment=1, lease_minutes=60)
        clock = movable_clock(suite)
        held = await claim(suite, campaign, made_up(1))
        frontend = await suite.client("annotation", "annotation")
        beats = []
        for _ in range(8):
            clock.advance(minutes=20)
            beats.append((await frontend.post(f"/v1/assignments/{held['id']}/heartbeat", json={})).status_code)
        assert beats == [200] * 5 + [409] * 3
        assert (await claim(suite, campaign, made_up(1)))["id"] != held["id"], "it is for others first"

    async def test_are_kept_for_as_long_as_answers_come(self, suite: RunningSuite):
        campaign = await public_campaign(suite, annotations_per_segment=1, lease_minutes=60)
        clock = movable_clock(suite)
        held = await claim(suite, campaign, made_up(1))
        frontend = await suite.client("annotation", "annotation")
        for number in range(8):
            clock.advance(minutes=50)
            answer = {"entity": {"A": ("human", "bot")[number % 2]}}
            assert (await save(suite, held, 0, answer)).status_code == 200
            assert (await frontend.post(f"/v1/assignments/{held['id']}/heartbeat", json={})).status_code == 200

    async def test_are_free_at_once_where_somebody_is_blocked(self, suite: RunningSuite):
        campaign = await public_campaign(suite, annotations_per_segment=1)
        held = await claim(suite, campaign, made_up(1))
        admin = await suite.client("annotation", "admin")
        (annotator,) = (await admin.get(f"/v1/campaigns/{campaign['id']}/annotators")).json()["items"]
        path = f"/v1/campaigns/{campaign['id']}/annotators/{annotator['id']}"
        assert (await admin.post(f"{path}/block", json={"reason": "made up"})).status_code == 200
        assert leased(suite, campaign) == 0
        frontend = await suite.client("annotation", "annotation")
        assert (await frontend.post(f"/v1/assignments/{held['id']}/heartbeat", json={})).status_code == 409
        assert (await save(suite, held, 0, DECISION)).status_code == 409


class TestCookies:
    @pytest.mark.parametrize("by_panel", [False, True])
    async def test_open_nothing_and_add_nobody_once_the_person_is_erased(self, suite: RunningSuite, by_panel: bool):
        await store_training(suite, dialogues=[gold_dialogue("one")])
        campaign = await public_campaign(suite, consent="We keep labels.", training={"name": "first_steps"})
        person = made_up(7)
        path = path_of(campaign, await link_of(suite, campaign), person)
        if not by_panel:
            path = (await entry_path(suite, campaign, person)).partition("&")[0]
        admin = await suite.client("annotation", "admin")
        async with entered(suite, path) as client:
            assert "We keep labels." in (await client.get(f"/annotate/{campaign['id']}")).text
            (annotator,) = (await admin.get(f"/v1/campaigns/{campaign['id']}/annotators")).json()["items"]
            about = f"/v1/campaigns/{campaign['id']}/annotators/{annotator['id']}"
            assert (await admin.post(f"{about}/block", json={"reason": "made up"})).status_code == 200
            assert (await admin.post(f"{about}/erase")).status_code == 200
            here = f"/annotate/{campaign['id']}"
            consent = {"answer": "yes", "sha256": campaign["consent_sha256"]}
            tried = [
                await client.get(here),
                await client.post(f"{here}/consent", data=consent),
                await client.get(f"{here}/training"),
                await client.put(f"{here}/training/0", json={"attempt": 1, "answer": {}}, headers=JSON),
                await client.post(f"{here}/appeal", data={"note": "why"}),
                await client.post(f"{here}/consent/withdraw"),
                await client.get(here),
            ]
        assert [each.status_code for each in tried] == [401, 409, 303, 409, 404, 404, 401]
        people = (await admin.get(f"/v1/campaigns/{campaign['id']}/annotators")).json()["items"]
        assert [re.sub("-.*", "", each["annotator"]) for each in people] == ["erased"]
