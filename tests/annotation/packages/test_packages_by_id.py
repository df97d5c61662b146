"""Packages of one's own name conversations by the suite's ids, too, and never show people their own chats."""

from typing import Any
from uuid import uuid4

import pytest

from tests.factories.annotating import claim, refused
from tests.factories.campaigns import create_campaign, open_campaign
from tests.factories.chat_studies import EXCHANGES, import_chats
from tests.factories.rated_chats import exported_chats
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, created, import_conversations


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return "conversations", "annotation"


async def _ids(suite: RunningSuite, collection: str) -> dict[str, str]:
    """Return the suite's id of each imported conversation, by its id of origin."""
    admin = await suite.client("conversations", "admin")
    found = (await admin.get(f"/v1/collections/{collection}/conversations")).json()["items"]
    return {each["external_id"]: each["id"] for each in found}


async def _draft(suite: RunningSuite, collection: str | None, **more: Any) -> tuple[str, dict[str, Any]]:
    settings = {"mode": "uploaded", "segments": [1], "annotations_per_segment": 1} | more
    campaign = await create_campaign(suite, "draft", collection, **settings)
    return f"/v1/campaigns/{campaign['id']}", campaign


def _package(name: str, *conversations: str, exchanges: int = 1) -> dict[str, Any]:
    return {"external_id": name, "segments": [{"conversation": each, "exchanges": exchanges} for each in conversations]}


class TestNames:
    async def test_are_the_suites_own_ids_or_the_ids_of_origin(self, suite: RunningSuite):
        collection = await import_conversations(suite, [conversation(f"c{number}", "X", "Y") for number in range(3)])
        ids = await _ids(suite, collection)
        path, campaign = await _draft(suite, collection)
        admin = await suite.client("annotation", "admin")
        packages = [_package("p", ids["c0"], "c1"), _package("q", ids["c2"])]
        assert await created(admin, f"{path}/packages", {"packages": packages}) == {"stored": 2, "already_there": 0}
        by_origin = _package("r", "c2")
        answer = await admin.post(f"{path}/packages", json={"packages": [by_origin]})
        assert answer.status_code == 422
        assert "c2 is shown so far by the package q already" in answer.json()["errors"][0]["detail"]
        shown = (await admin.get(f"{path}/packages")).json()["items"]
        assert [[each["conversation_id"] for each in package["segments"]] for package in shown] == [
            [ids["c0"], ids["c1"]],
            [ids["c2"]],
        ]
        assert (await admin.post(f"{path}/open")).status_code == 200
        assert len((await claim(suite, campaign, "ann"))["items"]) == 2

    async def test_are_refused_if_nothing_has_them_or_one_conversation_has_both(self, suite: RunningSuite):
        collection = await import_conversations(suite, [conversation(f"c{number}", "X", "Y") for number in range(3)])
        ids = await _ids(suite, collection)
        path, _ = await _draft(suite, collection)
        admin, foreign = await suite.client("annotation", "admin"), str(uuid4())
        both = "a conversation is named twice in the package, by both of its ids"
        for package, position, reason in (
            (_package("p", "c0", foreign), 1, f"conversation {foreign} is not in the campaign's collections"),
            (_package("p", "c1", "c0", ids["c0"]), 2, both),
        ):
            answer = await admin.post(f"{path}/packages", json={"packages": [package]})
            assert answer.status_code == 422
            (fault,) = answer.json()["errors"]
            assert (fault["pointer"], fault["detail"]) == (f"/packages/0/segments/{position}", reason)

    async def test_name_a_pair_by_any_id_but_no_dialogue_twice(self, suite: RunningSuite):
        chats = [conversation(f"c{number}", "HU", f"bot-{number}") for number in range(4)]
        collection = await import_conversations(suite, chats)
        ids = await _ids(suite, collection)
        path, _ = await _draft(suite, collection, protocol="comparative")
        admin = await suite.client("annotation", "admin")

        def package(*pairs: tuple[str, str]) -> dict[str, Any]:
            shown = [
                {"conversation": left, "exchanges": 3, "right": {"conversation": right, "exchanges": 3}}
                for left, right in pairs
            ]
            return {"packages": [{"external_id": "p", "segments": shown}]}

        for wrong in (package(("c0", ids["c0"])), package(("c0", "c1"), ("c2", ids["c1"]))):
            assert (await admin.post(f"{path}/packages", json=wrong)).status_code == 422
        right = package((ids["c0"], "c1"), ("c2", ids["c3"]))
        assert await created(admin, f"{path}/packages", right) == {"stored": 1, "already_there": 0}

    async def test_belong_to_the_origin_where_an_import_is_called_as_another_is(self, suite: RunningSuite):
        first = await import_conversations(suite, [conversation("c0", "X", "Y")])
        (known,) = (await _ids(suite, first)).values()
        second = await import_conversations(suite, [conversation(known, "X", "Y", exchanges=2)])
        path, _ = await _draft(suite, None, collections=[first, second])
        admin = await suite.client("annotation", "admin")
        await created(admin, f"{path}/packages", {"packages": [_package("p", known), _package("q", "c0")]})
        shown = (await admin.get(f"{path}/packages")).json()["items"]
        named = await _ids(suite, second)
        assert [each["segments"][0]["conversation_id"] for each in shown] == [named[known], known]


class TestOwnChats:
    async def test_are_never_in_a_package_for_the_person(self, suite: RunningSuite):
        chats = exported_chats(2)
        collection = await import_chats(suite, chats)
        people = [each.rating.interactor for each in chats if each.rating]
        path, campaign = await _draft(suite, collection)
        admin, frontend = await suite.client("annotation", "admin"), await suite.client("annotation", "annotation")
        packages = [_package(each.id, each.id, exchanges=EXCHANGES) for each in chats]
        await created(admin, f"{path}/packages", {"packages": packages})
        assert (await admin.post(f"{path}/open")).status_code == 200
        own = {"annotator": people[0], "package": chats[0].id}
        answer = await frontend.post(f"{path}/assignments", json=own)
        assert (answer.status_code, answer.json()["type"]) == (409, "urn:spotthebot:problem:conversation-seen")
        others = {"annotator": people[0], "package": chats[-1].id}
        assert (await frontend.post(f"{path}/assignments", json=others)).status_code == 201
        strangers = await open_campaign(suite, collection, protocol="dialogue_likert", package_size=4)
        assert await refused(suite, strangers, str(people[0])) == "nothing-left"
        assert len((await claim(suite, strangers, "stranger"))["items"]) == 4
        assert campaign["mode"] == "uploaded"
