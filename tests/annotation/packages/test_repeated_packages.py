"""Packages of one's own for a number of annotators that each package states, none of whom gets it twice."""

import asyncio
from typing import Any

import pytest

from tests.factories.annotating import annotations_of, ask, claim, rows, state_of, work_through
from tests.factories.campaigns import create_campaign, package_rows
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, created, import_conversations, until

PACKAGES = package_rows({"p": (("c0", 1), ("c1", 1)), "q": (("c2", 1),), "r": (("c3", 1),)})
DOUBLE = [PACKAGES[0] | {"annotators": 2}, PACKAGES[1] | {"annotators": 3}, PACKAGES[2]]
"""Two annotators for two items, three for one, one for one: 6 assignments, 8 annotations."""


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return "conversations", "annotation"


async def _draft(suite: RunningSuite, **more: Any) -> dict[str, Any]:
    collection = await import_conversations(suite, [conversation(f"c{number}", "X", "Y") for number in range(4)])
    settings = {"mode": "uploaded", "segments": [1], "annotations_per_segment": 1}
    return await create_campaign(suite, "draft", collection, **settings | more)


async def _opened(suite: RunningSuite, packages: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    campaign = await _draft(suite, **more)
    admin, path = await suite.client("annotation", "admin"), f"/v1/campaigns/{campaign['id']}"
    await created(admin, f"{path}/packages", {"packages": packages})
    assert (await admin.post(f"{path}/open")).status_code == 200
    return campaign


def _slots(suite: RunningSuite) -> dict[str, int]:
    return dict(rows(suite, "SELECT external_id, slots_left FROM annotation.packages"))


class TestAnnotatorsOfAPackage:
    async def test_are_different_people_who_complete_the_campaign(self, suite: RunningSuite):
        campaign = await _opened(suite, DOUBLE)
        found = await state_of(suite, campaign)
        assert (found["packages"], found["assignments_needed"], found["annotations_needed"]) == (3, 6, 8)
        assert _slots(suite) == {"p": 2, "q": 3, "r": 1}
        done = 0
        for person in ("ann", "ben", "cleo"):
            while (answer := await ask(suite, campaign, person)).status_code == 201:
                await work_through(suite, answer.json())
                done += 1
        found = await state_of(suite, campaign)
        assert (done, found["state"], found["submitted"], found["annotations"]) == (6, "complete", 6, 8)
        people = [(each["conversation_id"], each["annotator"]) for each in await annotations_of(suite, campaign)]
        assert len({*people}) == len(people) == 8

    async def test_never_get_a_package_twice_even_by_its_name(self, suite: RunningSuite):
        campaign = await _opened(suite, DOUBLE)
        frontend, path = await suite.client("annotation", "annotation"), f"/v1/campaigns/{campaign['id']}/assignments"
        first = (await frontend.post(path, json={"annotator": "ann", "package": "q"})).json()
        again = (await frontend.post(path, json={"annotator": "ann", "package": "q"})).json()
        assert again["id"] == first["id"]
        await work_through(suite, first)
        seen = await frontend.post(path, json={"annotator": "ann", "package": "q"})
        assert (seen.status_code, seen.json()["type"]) == (409, "urn:spotthebot:problem:conversation-seen")
        others = [
            (await frontend.post(path, json={"annotator": name, "package": "q"})).status_code
            for name in ("ben", "cleo", "dora")
        ]
        assert others == [201, 201, 409]

    async def test_are_as_many_as_stated_if_all_claim_at_once(self, suite: RunningSuite):
        campaign = await _opened(suite, DOUBLE)
        frontend, path = await suite.client("annotation", "annotation"), f"/v1/campaigns/{campaign['id']}/assignments"
        answers = await asyncio.gather(
            *(frontend.post(path, json={"annotator": f"w{number % 8}", "package": "q"}) for number in range(16))
        )
        held = {each.json()["annotator"] for each in answers if each.status_code == 201}
        assert (len(held), _slots(suite)["q"]) == (3, 0)

    async def test_are_counted_in_previews(self, suite: RunningSuite):
        """By hand: 6 assignments at 2.50; package q needs 3 people, who can take all other packages."""
        campaign = await _opened(suite, DOUBLE, pay_per_package="2.50", currency="EUR")
        admin = await suite.client("annotation", "admin")
        found = (await admin.get(f"/v1/campaigns/{campaign['id']}/preview")).json()
        assert (found["packages"], found["items"], found["assignments"], found["annotations"]) == (3, 4, 6, 8)
        assert (found["annotators"], found["annotators_enough"], found["pay"]) == (3, 3, "15.00")

    async def test_grow_with_those_of_all_packages(self, suite: RunningSuite):
        campaign = await _opened(suite, DOUBLE)
        admin, path = await suite.client("annotation", "admin"), f"/v1/campaigns/{campaign['id']}"
        changed = (await admin.patch(path, json={"annotations_per_segment": 2})).json()
        assert (changed["assignments_needed"], changed["annotations_needed"]) == (9, 12)
        assert _slots(suite) == {"p": 3, "q": 4, "r": 2}

    async def test_stay_with_a_package_that_is_uploaded_again(self, suite: RunningSuite):
        campaign = await _draft(suite)
        admin, path = await suite.client("annotation", "admin"), f"/v1/campaigns/{campaign['id']}"
        await created(admin, f"{path}/packages", {"packages": DOUBLE})
        again = await created(admin, f"{path}/packages", {"packages": DOUBLE})
        assert again == {"stored": 0, "already_there": 3}
        assert (await admin.get(path)).json()["assignments_needed"] == 6
        assert (await admin.delete(path)).status_code == 204


class TestBadNumbers:
    @pytest.mark.parametrize("number", [0, 51, "two", 1.5])
    async def test_are_refused_by_their_form(self, suite: RunningSuite, number: Any):
        campaign = await _draft(suite)
        admin, path = await suite.client("annotation", "admin"), f"/v1/campaigns/{campaign['id']}"
        answer = await admin.post(f"{path}/packages", json={"packages": [PACKAGES[0] | {"annotators": number}]})
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["pointer"] == "/packages/0/annotators"

    async def test_are_refused_below_those_of_all_packages_and_in_imports(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        few = await _draft(suite, annotations_per_segment=3)
        collection = await import_conversations(suite, [conversation("c0", "X", "Y"), conversation("c1", "X", "Y")])
        of_import = await create_campaign(suite, "open", collection, mode="import", segments=[1])
        for campaign, reason in (
            (few, "must be at least 3: the campaign's annotations_per_segment"),
            (of_import, "is for mode uploaded: nobody claims the packages of an import"),
        ):
            path = f"/v1/campaigns/{campaign['id']}"
            answer = await admin.post(f"{path}/packages", json={"packages": DOUBLE[:1]})
            assert answer.status_code == 422
            assert [(each["pointer"], each["detail"]) for each in answer.json()["errors"]] == [
                ("/packages/0/annotators", reason)
            ]
            assert (await admin.get(path)).json()["packages"] == 0

    async def test_say_how_to_repeat_a_package_to_those_who_upload_it_under_two_names(self, suite: RunningSuite):
        campaign = await _draft(suite)
        admin, path = await suite.client("annotation", "admin"), f"/v1/campaigns/{campaign['id']}"
        both = {"packages": [PACKAGES[1], PACKAGES[1] | {"external_id": "q again"}]}
        answer = await admin.post(f"{path}/packages", json=both)
        assert answer.status_code == 422
        assert "say so by its `annotators`" in answer.json()["errors"][0]["detail"]
        await until(admin, path, "draft")
        assert _slots(suite) == {}


async def test_an_annotator_of_two_claims_at_once_gets_one_package(suite: RunningSuite):
    campaign = await _opened(suite, DOUBLE[1:2])
    answers = await asyncio.gather(*(claim(suite, campaign, "ann") for _ in range(6)))
    assert len({each["id"] for each in answers}) == 1
    assert _slots(suite) == {"q": 2}
