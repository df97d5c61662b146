"""Campaigns whose packages are uploaded: to a draft, claimed by name or in their order, under all rules of claims."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from spotthebot.annotation.packages import store as packages_store
from spotthebot.kit.database.sessions import Database
from tests.factories.annotating import WHOLE, annotations_of, answer_items, movable_clock, rows, state_of, submit
from tests.factories.campaigns import create_campaign, open_campaign, package_rows
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, created, import_conversations

PACKAGES = {"p": (("c0", 1), ("c1", 2)), "q": (("c0", 2), ("c1", 1)), "r": (("c2", 3), ("c3", 3))}
_PROBLEM = "urn:spotthebot:problem:"


async def _draft(suite: RunningSuite, **more: Any) -> dict[str, Any]:
    collection = await import_conversations(suite, [conversation(f"c{number}", "X", "Y") for number in range(4)])
    return await create_campaign(suite, "draft", collection, **{"mode": "uploaded", "segments": [1, 2, 3]} | more)


async def _upload(suite: RunningSuite, campaign: dict[str, Any], *names: str) -> dict[str, Any]:
    admin = await suite.client("annotation", "admin")
    packages = package_rows({name: PACKAGES[name] for name in names})
    return await created(admin, f"/v1/campaigns/{campaign['id']}/packages", {"packages": packages})


async def _opened(suite: RunningSuite, **more: Any) -> dict[str, Any]:
    campaign = await _draft(suite, **more)
    await _upload(suite, campaign, *PACKAGES)
    admin = await suite.client("annotation", "admin")
    opened: dict[str, Any] = (await admin.post(f"/v1/campaigns/{campaign['id']}/open")).json()
    return opened


async def _claim(suite: RunningSuite, campaign: dict[str, Any], annotator: str, package: str | None = None) -> Any:
    """Return the assignment, or why there is none."""
    frontend = await suite.client("annotation", "annotation")
    body = {"annotator": annotator} | ({"package": package} if package else {})
    answer = await frontend.post(f"/v1/campaigns/{campaign['id']}/assignments", json=body)
    return answer.json() if answer.status_code == 201 else answer.json()["type"].removeprefix(_PROBLEM)


async def _finish(suite: RunningSuite, assignment: dict[str, Any]) -> None:
    await answer_items(suite, assignment, WHOLE)
    assert (await submit(suite, assignment)).status_code == 200


class TestUploads:
    async def test_are_previewed_by_the_conversations_that_they_share(self, suite: RunningSuite):
        """Two of three packages show the same conversations, to two annotators each: four, and two of them go on."""
        campaign = await _draft(suite, packages_per_annotator=3)
        await _upload(suite, campaign, *PACKAGES)
        admin = await suite.client("annotation", "admin")
        found = (await admin.get(f"/v1/campaigns/{campaign['id']}/preview")).json()
        assert found["assignments"] == 6
        assert found["annotators"] == 4
        assert found["annotators_enough"] == 4
        assert [each["detail"] for each in found["unreached"]] == [
            "is 3, but nobody can take more than 2 without a conversation that they have seen"
        ]

    async def test_go_to_a_draft_alone_and_can_be_repeated(self, suite: RunningSuite):
        campaign = await _draft(suite, open=True)
        assert campaign["state"] == "draft"
        assert await _upload(suite, campaign, "p") == {"stored": 1, "already_there": 0}
        assert await _upload(suite, campaign, "p", "q") == {"stored": 1, "already_there": 1}
        admin = await suite.client("annotation", "admin")
        path = f"/v1/campaigns/{campaign['id']}"
        assert (await admin.post(f"{path}/open")).status_code == 200
        package = {"external_id": "r", "segments": [{"conversation": "c2", "exchanges": 1}]}
        late = await admin.post(f"{path}/packages", json={"packages": [package]})
        assert (late.status_code, late.json()["type"]) == (409, f"{_PROBLEM}campaign-no-draft")

    async def test_are_packages_alone(self, suite: RunningSuite):
        campaign = await _draft(suite)
        await _upload(suite, campaign, "p")
        admin = await suite.client("annotation", "admin")
        row = {"external_id": "a", "package": "p", "conversation": "c0", "exchanges": 1, "annotator": "ann"}
        times = {"started_at": None, "ended_at": None, "elapsed_ms": None}
        uploaded = {"annotations": [row | times | {"answer": WHOLE}]}
        answer = await admin.post(f"/v1/campaigns/{campaign['id']}/annotations", json=uploaded)
        assert (answer.status_code, answer.json()["type"]) == (409, f"{_PROBLEM}campaign-takes-no-imports")


class TestClaims:
    async def test_get_the_named_package_or_the_next_one(self, suite: RunningSuite):
        campaign = await _opened(suite)
        named = await _claim(suite, campaign, "ann", "r")
        assert [len(item["turns"]) for item in named["items"]] == [6, 6]
        assert (await _claim(suite, campaign, "ann", "r"))["id"] == named["id"]
        following = await _claim(suite, campaign, "bob")
        assert [len(item["turns"]) for item in following["items"]] == [2, 4]

    async def test_say_why_the_named_package_is_not_to_be_had(self, suite: RunningSuite):
        campaign = await _opened(suite, annotations_per_segment=1, packages_per_annotator=1)
        await _finish(suite, await _claim(suite, campaign, "ann", "p"))
        assert await _claim(suite, campaign, "ann", "r") == "limit-reached"
        assert await _claim(suite, campaign, "bob", "p") == "package-taken"
        assert await _claim(suite, campaign, "bob", "nowhere") == "no-such-package"
        await _claim(suite, campaign, "bob", "q")
        assert await _claim(suite, campaign, "bob", "r") == "another-package-held"

    async def test_never_show_a_conversation_twice(self, suite: RunningSuite):
        campaign = await _opened(suite)
        await _finish(suite, await _claim(suite, campaign, "ann", "p"))
        assert await _claim(suite, campaign, "ann", "q") == "conversation-seen"
        assert await _claim(suite, campaign, "ann", "p") == "conversation-seen"

    async def test_give_an_expired_lease_of_the_package_back(self, suite: RunningSuite):
        campaign = await _opened(suite, annotations_per_segment=1)
        clock = movable_clock(suite)
        first = await _claim(suite, campaign, "ann", "r")
        clock.advance(hours=2)
        taken = await _claim(suite, campaign, "bob", "r")
        assert await _claim(suite, campaign, "ann", "r") == "package-taken"
        clock.advance(hours=2)
        assert await _claim(suite, campaign, "ann", "r") | {"expires_at": ""} == first | {"expires_at": ""}
        assert (await submit(suite, taken)).status_code == 409

    @pytest.mark.parametrize("annotators", [8])
    async def test_at_once_take_no_more_than_a_package_needs(self, suite: RunningSuite, annotators: int):
        campaign = await _opened(suite)
        claimed = await asyncio.gather(*(_claim(suite, campaign, f"w{n}", "r") for n in range(annotators)))
        assert sorted(each if isinstance(each, str) else "leased" for each in claimed) == [
            *["leased"] * 2,
            *["package-taken"] * (annotators - 2),
        ]
        assert rows(suite, "SELECT slots_left FROM annotation.packages WHERE external_id = 'r'") == [(0,)]

    async def test_complete_the_campaign(self, suite: RunningSuite):
        campaign = await _opened(suite, annotations_per_segment=1)
        for name in PACKAGES:
            await _finish(suite, await _claim(suite, campaign, f"annotator of {name}", name))
        assert (await state_of(suite, campaign))["state"] == "complete"
        assert len(await annotations_of(suite, campaign)) == 6

    async def test_name_no_package_of_a_campaign_that_chooses_itself(self, suite: RunningSuite):
        collection = await import_conversations(suite, [conversation("c0", "X", "Y")])
        campaign = await open_campaign(suite, collection)
        assert await _claim(suite, campaign, "ann", "p") == "packages-not-named"


async def test_turns_are_found_of_more_conversations_than_a_statement_has_parameters(suite: RunningSuite):
    """A thousand packages may show 200,000. With an id a parameter, PostgreSQL took no more than 65,535."""
    campaign = await _opened(suite)
    shown = [
        UUID(found) for (found,) in rows(suite, "SELECT conversation_id::text FROM annotation.shown_conversations")
    ]
    database = Database(suite.database.app["annotation"], pool_size=2)
    async with database.read() as session:
        many = {UUID(int=number) for number in range(70_000)} | {*shown}
        found = await packages_store._turns(session, UUID(campaign["id"]), many)
    await database.close()
    assert {each: (len(said[0]), len(said[1])) for each, said in found.items()} == dict.fromkeys(shown, (0, 6))
