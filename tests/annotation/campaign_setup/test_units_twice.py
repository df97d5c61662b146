"""Campaigns that draw a part of their units for two annotators, from the request to the last submission."""

from typing import Any

import httpx
import pytest

from tests.factories.annotating import ask, claim, refused, rows, state_of, work_through
from tests.factories.campaigns import campaign_of, create_campaign, open_campaign
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations, until

MUST_BE_ONE = "must be 1 or left out next to units_twice: only the drawn units have two annotators"
PAID = {"pay_per_package": "1.20", "currency": "EUR"}


async def _work(suite: RunningSuite, campaign: dict[str, Any], annotator: str) -> int:
    """Let an annotator submit packages until none is left; return how many."""
    submitted = 0
    while (answer := await ask(suite, campaign, annotator)).status_code == 201:
        await work_through(suite, answer.json())
        submitted += 1
    return submitted


async def _change(suite: RunningSuite, campaign: dict[str, Any], **changes: Any) -> httpx.Response:
    admin = await suite.client("annotation", "admin")
    return await admin.patch(f"/v1/campaigns/{campaign['id']}", json=changes)


async def _faults(suite: RunningSuite, campaign: dict[str, Any], **changes: Any) -> dict[str, str]:
    """Return the faults of a refused change; the campaign stays as it was."""
    before = await state_of(suite, campaign)
    answer = await _change(suite, campaign, **changes)
    assert answer.status_code in {409, 422}, answer.text
    assert await state_of(suite, campaign) == before
    return {each["pointer"]: each["detail"] for each in answer.json()["errors"]}


def _slots(suite: RunningSuite, campaign: dict[str, Any]) -> list[tuple[bool, int]]:
    found = rows(suite, "SELECT campaign_id, extra_annotators = 1, slots_left FROM annotation.packages")
    return sorted((twice, slots) for campaign_id, twice, slots in found if str(campaign_id) == campaign["id"])


class TestCampaign:
    async def test_has_two_annotators_for_the_drawn_dialogues_and_one_for_the_others(self, suite: RunningSuite):
        """Four dialogues at one length, one of them drawn: five annotations complete the campaign, no more, no less."""
        campaign = await campaign_of(suite, 4, units_twice=1, segments=[1], package_size=1)
        assert (campaign["units_twice"], campaign["annotations_per_segment"]) == (1, 1)
        assert (campaign["items"], campaign["assignments_needed"], campaign["annotations_needed"]) == (4, 5, 5)
        assert _slots(suite, campaign) == [(False, 1), (False, 1), (False, 1), (True, 2)]
        assert await _work(suite, campaign, "ann") == 4
        found = await state_of(suite, campaign)
        assert (found["state"], found["annotations"]) == ("open", 4)
        drawn = await claim(suite, campaign, "bob")
        assert await refused(suite, campaign, "cleo") == "nothing-left"
        await work_through(suite, drawn)
        found = await state_of(suite, campaign)
        assert (found["state"], found["submitted"], found["annotations"]) == ("complete", 5, 5)
        assert await refused(suite, campaign, "cleo") == "closed"
        query = """
            SELECT count(*), count(DISTINCT annotator_id), bool_or(extra_annotators = 1) FROM annotation.annotations
            JOIN annotation.items ON items.id = item_id JOIN annotation.packages ON packages.id = package_id
            GROUP BY items.conversation_id
        """
        assert sorted(rows(suite, query)) == [(1, 1, False)] * 3 + [(2, 2, True)]

    async def test_annotates_a_drawn_dialogue_twice_at_every_length(self, suite: RunningSuite):
        """Two of four dialogues, in a block of their own with a package for each of two lengths: (4 + 2) * 2 = 12."""
        campaign = await campaign_of(suite, 4, units_twice=2, segments=[1, 2])
        assert _slots(suite, campaign) == [(False, 1), (False, 1), (True, 2), (True, 2)]
        assert (campaign["assignments_needed"], campaign["annotations_needed"]) == (6, 12)
        # Nobody gets two packages of a block: two blocks, of which the drawn one needs four people.
        assert [await _work(suite, campaign, annotator) for annotator in ("a", "b", "c", "d")] == [2, 2, 1, 1]
        found = await state_of(suite, campaign)
        assert (found["state"], found["annotations"]) == ("complete", 12)
        query = "SELECT count(*) FROM annotation.annotations GROUP BY item_id"
        assert sorted(rows(suite, query)) == [(1,)] * 4 + [(2,)] * 4

    async def test_draws_pairs_where_the_protocol_compares_them(self, suite: RunningSuite):
        """Four pairs of eight dialogues, one of them drawn."""
        talks = [conversation(f"p{number}", "HU", f"SECRET-{number % 2}") for number in range(8)]
        collection = await import_conversations(suite, talks)
        campaign = await open_campaign(suite, collection, protocol="comparative", units_twice=1, package_size=2)
        assert _slots(suite, campaign) == [(False, 1), (False, 1), (True, 2)]
        assert (campaign["items"], campaign["annotations_needed"]) == (4, 5)

    async def test_gives_a_drawn_package_to_another_annotator_if_work_is_rejected(self, suite: RunningSuite):
        campaign = await campaign_of(suite, 1, units_twice=1, segments=[1])
        for annotator in ("ann", "bob"):
            assignment = await claim(suite, campaign, annotator)
            await work_through(suite, assignment)
        assert (await state_of(suite, campaign))["state"] == "complete"
        admin = await suite.client("annotation", "admin")
        path = f"/v1/campaigns/{campaign['id']}/assignments/{assignment['id']}/reject"
        assert (await admin.post(path, json={"reason": "Not read."})).status_code == 200
        assert await _work(suite, campaign, "cleo") == 1
        found = await state_of(suite, campaign)
        assert (found["state"], found["annotations"]) == ("complete", 2)

    async def test_lets_people_in_by_a_link_for_all_its_assignments(self, suite: RunningSuite):
        """Three packages, one of them for two annotators: twice as many people as four may enter."""
        panel = {"kind": "prolific", "completion_code": "C1"}
        campaign = await campaign_of(suite, 3, units_twice=1, segments=[1], package_size=1, panel=panel)
        admin = await suite.client("annotation", "admin")
        link = await admin.post(f"/v1/campaigns/{campaign['id']}/entry-links", json={})
        assert link.json()["max_annotators"] == 2 * (3 + 1)


class TestEstimate:
    async def test_counts_the_drawn_part_twice_before_and_after_the_campaign_is_made(self, suite: RunningSuite):
        """Two of three dialogues at two lengths, a dialogue in each package: two packages for each.

        Four people at least, as two of the drawn packages show one dialogue and have two annotators each.
        """
        admin = await suite.client("annotation", "admin")
        request = PAID | {"units_twice": 2, "package_size": 1}
        campaign = await campaign_of(suite, 3, segments=[1, 2], **request)
        body = {name: campaign[name] for name in ("domain", "collections", "segments", *request)} | {"name": "tried"}
        tried = (await admin.post("/v1/campaigns/dry-run", json=body)).json()
        there = (await admin.get(f"/v1/campaigns/{campaign['id']}/preview")).json()
        assert tried == {name: there[name] for name in tried}
        assert (tried["packages"], tried["items"], tried["units_twice"]) == (6, 6, 2)
        assert (tried["assignments"], tried["annotations"], tried["annotators"]) == (2 + 2 * 4, 2 + 2 * 4, 4)
        assert tried["pay"] == "12.00"
        assert campaign["annotations_needed"] == tried["annotations"]


class TestRefusedCampaign:
    @pytest.mark.parametrize(
        ("given", "pointer", "said"),
        [
            ({"units_twice": 2, "annotations_per_segment": 2}, "/annotations_per_segment", MUST_BE_ONE),
            ({"units_twice": 0}, "/units_twice", "must be at least 1"),
            ({"units_twice": 2**31}, "/units_twice", "must be less than 2147483648"),
            ({"units_twice": "many"}, "/units_twice", "must be a whole number"),
            ({"units_twice": 2, "mode": "uploaded"}, "", "units_twice is for mode live"),
            ({"units_twice": 4}, "/units_twice", "must be at most 3: there are no more dialogues to annotate"),
            ({"units_twice": 2, "protocol": "comparative"}, "/units_twice", "no more pairs of dialogues to annotate"),
        ],
    )
    async def test_says_what_to_do_as_its_dry_run_does(
        self, suite: RunningSuite, given: dict[str, Any], pointer: str, said: str
    ):
        admin = await suite.client("annotation", "admin")
        talks = [conversation(f"d{number}", "HU", f"SECRET-{number % 2}") for number in range(3)]
        body = {"name": "c", "domain": "everyday", "segments": [1]} | given
        body["collection_id"] = await import_conversations(suite, talks)
        for path in ("/v1/campaigns", "/v1/campaigns/dry-run"):
            answer = await admin.post(path, json=body)
            assert answer.status_code == 422, answer.text
            (fault,) = answer.json()["errors"]
            assert (fault["pointer"] or "") == pointer
            assert said in fault["detail"]
        assert (await admin.get("/v1/campaigns")).json()["items"] == []

    async def test_fails_for_another_reason_if_all_conversations_are_too_short(self, suite: RunningSuite):
        collection = await import_conversations(suite, [conversation("short", "X", "Y", 1)])
        campaign = await create_campaign(suite, "failed", collection, segments=[9], units_twice=2)
        assert campaign["failure"].startswith("No conversation has the 9 exchanges")


class TestChangedCampaign:
    async def test_has_its_packages_made_again_while_it_is_a_draft(self, suite: RunningSuite):
        collection = await import_conversations(suite, [conversation(f"d{number}", "X", "Y") for number in range(4)])
        draft = await create_campaign(suite, "draft", collection, open=False, segments=[1], package_size=2)
        admin = await suite.client("annotation", "admin")
        path = f"/v1/campaigns/{draft['id']}"
        assert await _faults(suite, draft, units_twice=2) == {"/annotations_per_segment": MUST_BE_ONE}
        assert await _faults(suite, draft, units_twice=5, annotations_per_segment=None) == {
            "/units_twice": "must be at most 4: there are no more dialogues to annotate"
        }
        for changes, slots, needed in (
            ({"units_twice": 2, "annotations_per_segment": None}, [(False, 1), (True, 2)], 6),
            ({"units_twice": 4}, [(True, 2), (True, 2)], 8),
            ({"units_twice": None, "annotations_per_segment": None}, [(False, 2), (False, 2)], 8),
        ):
            assert (await _change(suite, draft, **changes)).json()["state"] == "building"
            built = await until(admin, path, "draft")
            assert (_slots(suite, draft), built["annotations_needed"]) == (slots, needed)

    async def test_keeps_its_draw_once_it_was_opened_and_says_why(self, suite: RunningSuite):
        campaign = await campaign_of(suite, 2, units_twice=1, segments=[1])
        fixed = "can't change once a campaign was opened: the units that two annotators see were drawn by it"
        for units_twice in (2, None):
            assert await _faults(suite, campaign, units_twice=units_twice) == {"/units_twice": fixed}
        assert await _faults(suite, campaign, annotations_per_segment=2) == {"/annotations_per_segment": MUST_BE_ONE}
        both = {"units_twice": None, "annotations_per_segment": 2}
        assert await _faults(suite, campaign, **both) == {"/units_twice": fixed}
        more = await import_conversations(suite, [conversation("more", "X", "Y")])
        assert await _faults(suite, campaign, collections=[*campaign["collections"], more]) == {
            "/collections": "can't grow: units_twice were drawn from those that it has; make another campaign"
        }
        assert (await _change(suite, campaign, instructions="Read.")).status_code == 200

    async def test_begins_no_draw_once_it_was_opened(self, suite: RunningSuite):
        campaign = await campaign_of(suite, 2, annotations_per_segment=1, segments=[1])
        assert set(await _faults(suite, campaign, units_twice=1)) == {"/units_twice"}
