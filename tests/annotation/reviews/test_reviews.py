"""Submitted work that an administrator rejects: it no longer counts, and another annotator gets the package."""

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from tests.factories.annotating import annotations_of, ask, claim, refused, rows, save, state_of, submit, work_through
from tests.factories.campaigns import campaign_of
from tests.factories.running_suite import RunningSuite

NOWHERE = "00000000-0000-7000-8000-000000000000"


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return "conversations", "annotation"


async def reject(
    suite: RunningSuite, campaign: Mapping[str, Any], assignment: Mapping[str, Any], reason: str = "all alike"
) -> httpx.Response:
    admin = await suite.client("annotation", "admin")
    path = f"/v1/campaigns/{campaign['id']}/assignments/{assignment['id']}/reject"
    return await admin.post(path, json={"reason": reason})


async def complete(suite: RunningSuite, **more: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a campaign of one block of two packages, one annotator each, that is complete, and its assignments."""
    campaign = await campaign_of(suite, 2, annotations_per_segment=1, **more)
    assignments = [await claim(suite, campaign, name) for name in ("ann", "bob")]
    for assignment in assignments:
        await work_through(suite, assignment)
    assert (await state_of(suite, campaign))["state"] == "complete"
    return campaign, assignments


class TestRejectedWork:
    async def test_leaves_annotations_counters_and_pay_and_gives_the_package_to_another(self, suite: RunningSuite):
        campaign, (anns, bobs) = await complete(suite, pay_per_package="2.00", currency="EUR")
        before = await annotations_of(suite, campaign)
        answer = await reject(suite, campaign, anns)
        assert (answer.status_code, answer.json()["state"]) == (200, "rejected")
        after = await state_of(suite, campaign)
        assert after["state"] == "open"
        assert after["submitted"] == 1
        assert after["annotations"] == len(bobs["items"])
        left = await annotations_of(suite, campaign)
        assert left == [each for each in before if each["annotator"] == "bob"]
        admin = await suite.client("annotation", "admin")
        payments = (await admin.get(f"/v1/campaigns/{campaign['id']}/payments")).json()["items"]
        assert [(each["annotator"], each["packages"]) for each in payments] == [("bob", 1)]
        again = await claim(suite, campaign, "cam")
        assert [each["turns"] for each in again["items"]] == [each["turns"] for each in anns["items"]]
        await work_through(suite, again)
        finished = await state_of(suite, campaign)
        assert finished["state"] == "complete"
        assert finished["submitted"] == 2
        assert finished["annotations"] == len(before)

    async def test_keeps_its_answers_and_locks_shows_no_code_and_is_never_given_to_its_annotator_again(
        self, suite: RunningSuite
    ):
        campaign, (anns, _) = await complete(suite)
        await reject(suite, campaign, anns)
        for late in (await submit(suite, anns), await save(suite, anns, 0, {"entity": {"A": "bot", "B": "bot"}})):
            assert (late.status_code, late.json()["type"]) == (409, "urn:spotthebot:problem:assignment-submitted")
        frontend = await suite.client("annotation", "annotation")
        shown = (await frontend.get(f"/v1/assignments/{anns['id']}")).json()
        assert (shown["state"], shown["completion_code"]) == ("rejected", None)
        assert await refused(suite, campaign, "ann") == "nothing-left"
        kept = dict(rows(suite, "SELECT assignment_id::text, count(*) FROM annotation.answers GROUP BY 1"))
        assert kept[anns["id"]] == len(anns["items"])

    async def test_counts_as_one_of_the_packages_that_an_annotator_may_have(self, suite: RunningSuite):
        campaign = await campaign_of(suite, annotations_per_segment=1, packages_per_annotator=1)
        assignment = await claim(suite, campaign, "ann")
        await work_through(suite, assignment)
        await reject(suite, campaign, assignment)
        assert await refused(suite, campaign, "ann") == "limit-reached"

    async def test_is_rejected_once_under_repeated_and_concurrent_requests(self, suite: RunningSuite):
        campaign, (anns, _) = await complete(suite)
        answers = await asyncio.gather(*(reject(suite, campaign, anns) for _ in range(8)))
        assert {(each.status_code, each.json()["state"]) for each in answers} == {(200, "rejected")}
        slots = dict(rows(suite, "SELECT id::text, slots_left FROM annotation.packages"))
        assert slots[answers[0].json()["package_id"]] == 1
        assert (await state_of(suite, campaign))["submitted"] == 1
        admin = await suite.client("annotation", "admin")
        audit = (await admin.get(f"/v1/campaigns/{campaign['id']}/audit")).json()["items"]
        assert [(each["action"], each["details"]) for each in audit] == [
            ("assignment.rejected", {"assignment": anns["id"], "reason": "all alike"})
        ]
        published = rows(suite, "SELECT data FROM annotation.events WHERE type = 'assignment.rejected'")
        assert [each["assignment"] for (each,) in published] == [{"id": anns["id"]}]

    async def test_is_missed_by_no_count_where_others_submit_at_the_same_time(self, suite: RunningSuite):
        campaign = await campaign_of(suite, annotations_per_segment=4)
        done = [await claim(suite, campaign, f"early {number}") for number in range(4)]
        for assignment in done:
            await work_through(suite, assignment)
        late = [await claim(suite, campaign, f"late {number}") for number in range(4)]
        await asyncio.gather(
            *(reject(suite, campaign, each) for each in done), *(work_through(suite, each) for each in late)
        )
        state = await state_of(suite, campaign)
        left = await annotations_of(suite, campaign)
        assert {each["annotator"] for each in left} == {f"late {number}" for number in range(4)}
        assert (state["submitted"], state["annotations"]) == (4, len(left))
        counted = "SELECT sum(slots_left) FROM annotation.packages"
        taken = "SELECT count(*) FROM annotation.assignments WHERE state IN ('leased', 'submitted')"
        (free,), (used,) = rows(suite, counted)[0], rows(suite, taken)[0]
        assert free + used == 4 * state["packages"]


class TestRejection:
    async def test_is_refused_before_the_submit_and_for_assignments_of_other_campaigns(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        held = await claim(suite, campaign, "ann")
        early = await reject(suite, campaign, held)
        assert (early.status_code, early.json()["type"]) == (409, "urn:spotthebot:problem:assignment-not-submitted")
        await work_through(suite, held)
        other = await campaign_of(suite)
        assert (await reject(suite, other, held)).status_code == 404
        assert (await reject(suite, campaign, {"id": NOWHERE})).status_code == 404

    @pytest.mark.parametrize("role", ["annotation", "team", "analyst", "service"])
    async def test_is_for_administrators_as_the_list_is(self, suite: RunningSuite, role: str):
        campaign = await campaign_of(suite)
        held = await claim(suite, campaign, "ann")
        client = await suite.client("annotation", role)
        base = f"/v1/campaigns/{campaign['id']}"
        rejected = await client.post(f"{base}/assignments/{held['id']}/reject", json={"reason": "x"})
        listed = await client.get(f"{base}/annotators/{NOWHERE}/assignments")
        assert (rejected.status_code, listed.status_code) == (403, 403)

    @pytest.mark.parametrize("reason", ["", "   ", "x" * 2001, "\0", 7, None])
    async def test_needs_a_reason(self, suite: RunningSuite, reason: Any):
        campaign = await campaign_of(suite)
        answer = await reject(suite, campaign, {"id": NOWHERE}, reason)
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["pointer"] == "/reason"


class TestListOfAssignments:
    async def test_has_every_package_of_an_annotator_with_its_state(self, suite: RunningSuite):
        campaign = await campaign_of(suite, annotations_per_segment=1)
        first = await claim(suite, campaign, "ann")
        await work_through(suite, first)
        await reject(suite, campaign, first)
        second = await claim(suite, campaign, "ann")
        assert (await ask(suite, campaign, "bob")).status_code == 201
        admin = await suite.client("annotation", "admin")
        base = f"/v1/campaigns/{campaign['id']}/annotators"
        (ann,) = [each for each in (await admin.get(base)).json()["items"] if each["annotator"] == "ann"]
        listed = (await admin.get(f"{base}/{ann['id']}/assignments", params={"limit": 1})).json()
        found = (
            listed["items"]
            + (await admin.get(f"{base}/{ann['id']}/assignments", params={"cursor": listed["next_cursor"]})).json()[
                "items"
            ]
        )
        assert [(each["id"], each["state"]) for each in found] == [(first["id"], "rejected"), (second["id"], "leased")]
        assert {each["annotator_id"] for each in found} == {ann["id"]}

    async def test_does_not_name_annotators_of_other_campaigns(self, suite: RunningSuite):
        campaign, other = await campaign_of(suite), await campaign_of(suite)
        await claim(suite, campaign, "ann")
        admin = await suite.client("annotation", "admin")
        (ann,) = (await admin.get(f"/v1/campaigns/{campaign['id']}/annotators")).json()["items"]
        foreign = await admin.get(f"/v1/campaigns/{other['id']}/annotators/{ann['id']}/assignments")
        assert foreign.status_code == 404
