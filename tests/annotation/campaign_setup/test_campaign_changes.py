"""Campaigns that are changed: drafts in all, those that run where their labels stay comparable."""

import asyncio
import hashlib
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest

from tests.factories.annotating import ask, claim, refused, rows, state_of, work_through
from tests.factories.campaigns import campaign_of, create_campaign
from tests.factories.databases import Databases
from tests.factories.gates import locks_awaited
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, created, import_conversations, until

_PROBLEM = "urn:spotthebot:problem:"
PROLIFIC = {"kind": "prolific", "completion_code": "WRONG"}


async def change(suite: RunningSuite, campaign: dict[str, Any], **changes: Any) -> httpx.Response:
    admin = await suite.client("annotation", "admin")
    return await admin.patch(f"/v1/campaigns/{campaign['id']}", json=changes)


async def changed(suite: RunningSuite, campaign: dict[str, Any], **changes: Any) -> dict[str, Any]:
    answer = await change(suite, campaign, **changes)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def faults(suite: RunningSuite, campaign: dict[str, Any], **changes: Any) -> dict[str, str]:
    """Return what is said of each key of changes that are refused, and that nothing changed."""
    before = await state_of(suite, campaign)
    answer = await change(suite, campaign, **changes)
    assert answer.status_code in {409, 422}, answer.text
    assert await state_of(suite, campaign) == before
    return {each["pointer"]: each["detail"] for each in answer.json()["errors"]}


async def audit(suite: RunningSuite, campaign: dict[str, Any], action: str) -> list[dict[str, str]]:
    admin = await suite.client("annotation", "admin")
    found = await admin.get(f"/v1/campaigns/{campaign['id']}/audit", params={"action": action})
    return [each["details"] for each in found.json()["items"]]


def packages(suite: RunningSuite, campaign: dict[str, Any], column: str) -> list[Any]:
    """Return a column of a campaign's packages, in their order."""
    found = rows(suite, f"SELECT campaign_id, {column} FROM annotation.packages ORDER BY id")  # noqa: S608 - a name
    return [value for campaign_id, value in found if str(campaign_id) == campaign["id"]]


async def draft_of(suite: RunningSuite, **more: Any) -> dict[str, Any]:
    collection = await import_conversations(suite, [conversation(f"d{number}", "X", "Y") for number in range(4)])
    return await create_campaign(suite, "draft", collection, **{"name": "draft", "open": False} | more)


class TestRunningCampaign:
    async def test_gets_another_completion_code_title_and_limits(self, suite: RunningSuite):
        campaign = await campaign_of(suite, panel=PROLIFIC, packages_per_annotator=1)
        found = await changed(
            suite,
            campaign,
            name="mended",
            packages_per_annotator=None,
            lease_minutes=5,
            panel={"completion_code": "RIGHT"},
        )
        assert found["name"] == "mended"
        assert found["packages_per_annotator"] is None
        assert found["lease_minutes"] == 5
        assert found["panel"] == {"kind": "prolific", "completion_code": "RIGHT"}
        assert found["state"] == "open"
        (entry,) = await audit(suite, campaign, "campaign.changed")
        assert entry["name"] == '"c" -> "mended"'
        assert entry["panel"] == (
            '{"kind": "prolific", "completion_code": "WRONG"} -> {"kind": "prolific", "completion_code": "RIGHT"}'
        )

    async def test_shows_new_instructions_and_lease_to_annotators_at_work(self, suite: RunningSuite):
        campaign = await campaign_of(suite, instructions="Old.", lease_minutes=60)
        held = await claim(suite, campaign, "ann")
        await changed(suite, campaign, instructions="New.", lease_minutes=120)
        frontend = await suite.client("annotation", "annotation")
        again = (await frontend.get(f"/v1/assignments/{held['id']}")).json()
        assert again["instructions"] == "New."
        kept = (await frontend.post(f"/v1/assignments/{held['id']}/heartbeat", json={})).json()
        times = [datetime.fromisoformat(each["expires_at"]) for each in (held, kept)]
        assert timedelta(minutes=60) <= times[1] - times[0] < timedelta(minutes=61)

    async def test_asks_for_consent_to_a_new_text_and_keeps_who_consented_to_which(self, suite: RunningSuite):
        old, new = "We keep labels.", "We keep labels for five years."
        campaign = await campaign_of(suite, consent=old)
        frontend = await suite.client("annotation", "annotation")

        async def consent(text: str) -> int:
            said = {"annotator": "ann", "sha256": hashlib.sha256(text.encode()).hexdigest()}
            return (await frontend.post(f"/v1/campaigns/{campaign['id']}/consents", json=said)).status_code

        assert await consent(old) == 200
        held = await claim(suite, campaign, "ann")
        await changed(suite, campaign, consent=new)
        await work_through(suite, held)  # what was begun under the old text can be ended
        assert await refused(suite, campaign, "ann") == "consent-required"
        assert await consent(old) == 409
        assert await consent(new) == 200
        (entry,) = await audit(suite, campaign, "annotator.consented_again")
        hashes = [hashlib.sha256(each.encode()).hexdigest() for each in (old, new)]
        assert entry["consent"] == f"SHA-256 {hashes[0]} -> SHA-256 {hashes[1]}"
        (entry,) = await audit(suite, campaign, "campaign.changed")
        assert entry["consent_before"] == old

    async def test_needs_more_annotators_where_overlap_grows(self, suite: RunningSuite):
        campaign = await campaign_of(suite, conversations=2, annotations_per_segment=1, segments=[1])
        await work_through(suite, await claim(suite, campaign, "ann"))
        assert (await state_of(suite, campaign))["state"] == "complete"
        found = await changed(suite, campaign, annotations_per_segment=3)
        assert (found["state"], found["annotations_needed"]) == ("open", 6)
        for annotator in ("bob", "cleo"):
            await work_through(suite, await claim(suite, campaign, annotator))
        assert (await state_of(suite, campaign))["state"] == "complete"
        assert await refused(suite, campaign, "dan") == "closed"

    async def test_gets_packages_of_more_collections(self, suite: RunningSuite):
        campaign = await campaign_of(suite, conversations=2, annotations_per_segment=1, segments=[1])
        await work_through(suite, await claim(suite, campaign, "ann"))
        more = await import_conversations(suite, [conversation(f"more{number}", "X", "Z") for number in range(3)])
        found = await changed(suite, campaign, collections=[*campaign["collections"], more])
        assert (found["state"], found["items"], found["packages"]) == ("open", 5, 3)
        assert sorted(packages(suite, campaign, "block")) == [0, 1, 2]
        shown = [turn["text"] for item in (await claim(suite, campaign, "ann"))["items"] for turn in item["turns"]]
        assert all(text.startswith("more") for text in shown)

    async def test_refuses_what_would_make_labels_incomparable_and_says_why(self, suite: RunningSuite):
        campaign = await campaign_of(suite, pay_per_package="2", currency="EUR")
        said = await faults(
            suite,
            campaign,
            protocol="turn_likert",
            segments=[1, 3],
            seed=5,
            annotations_per_segment=1,
            collections=[(await draft_of(suite))["collection_id"]],
            panel=PROLIFIC,
            pay_per_package="1.50",
            mode="uploaded",
        )
        assert set(said) == {
            "/annotations_per_segment",
            "/collections",
            "/mode",
            "/panel",
            "/pay_per_package",
            "/protocol",
            "/seed",
            "/segments",
        }
        assert said["/annotations_per_segment"] == "can only grow from 2: annotators have begun on as many"
        assert said["/segments"].startswith("can't change once a campaign was opened: packages show these lengths")
        assert said["/pay_per_package"] == "can only grow from 2.00: annotators were promised it"

    @pytest.mark.parametrize(
        ("changes", "pointer"),
        [
            ({"lease_minutes": 0}, "/lease_minutes"),
            ({"secret": "00" * 32}, "/secret"),
            ({"open": True}, "/open"),
            ({"nonsense": 1}, "/nonsense"),
            ({"currency": "EUR"}, ""),
            ({"panel": {"kind": "mturk"}}, "/panel"),
            ({"name": None}, "/name"),
        ],
    )
    async def test_refuses_what_no_campaign_may_be(self, suite: RunningSuite, changes: dict[str, Any], pointer: str):
        assert pointer in await faults(suite, await campaign_of(suite), **changes)

    async def test_keeps_overlap_and_collections_while_its_results_are_released(self, suite: RunningSuite):
        campaign = await campaign_of(suite, conversations=2, annotations_per_segment=1, segments=[1])
        await work_through(suite, await claim(suite, campaign, "ann"))
        admin = await suite.client("annotation", "admin")
        assert (await admin.post(f"/v1/campaigns/{campaign['id']}/results/release")).status_code == 200
        said = await faults(suite, campaign, annotations_per_segment=2)
        assert said == {"/annotations_per_segment": "can't grow: its results are released; withdraw them first"}

    async def test_once_closed_changes_nothing_but_its_name_and_way_back(self, suite: RunningSuite):
        campaign = await campaign_of(suite, panel=PROLIFIC)
        admin = await suite.client("annotation", "admin")
        assert (await admin.post(f"/v1/campaigns/{campaign['id']}/close")).status_code == 200
        assert set(await faults(suite, campaign, instructions="Late.")) == {"/instructions"}
        found = await changed(suite, campaign, name="late", panel={"completion_code": "RIGHT"})
        assert (found["state"], found["name"]) == ("closed", "late")


class TestSameChangeAgain:
    async def test_changes_nothing_and_notes_nothing(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        first = await changed(suite, campaign, annotations_per_segment=3, pay_per_package="2", currency="EUR")
        assert await changed(suite, campaign, annotations_per_segment=3, pay_per_package="2.00") == first
        assert len(await audit(suite, campaign, "campaign.changed")) == 1

    async def test_at_once_adds_slots_and_packages_once(self, suite: RunningSuite):
        campaign = await campaign_of(suite, conversations=2, segments=[1])
        more = await import_conversations(suite, [conversation(f"m{number}", "X", "Z") for number in range(2)])
        same = {"annotations_per_segment": 4, "collections": [*campaign["collections"], more]}
        answers = await asyncio.gather(*(change(suite, campaign, **same) for _ in range(5)))
        assert {each.status_code for each in answers} <= {200, 409}
        assert 200 in {each.status_code for each in answers}
        assert packages(suite, campaign, "slots_left") == [4, 4]
        assert len(await audit(suite, campaign, "campaign.changed")) == 1

    async def test_keeps_changes_of_different_keys_at_once(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        texts = {"instructions": "A", "consent": "B", "name": "C"}
        await asyncio.gather(*(changed(suite, campaign, **{key: text}) for key, text in texts.items()))
        found = await state_of(suite, campaign)
        assert {key: found[key] for key in texts} == texts

    async def test_while_annotators_claim_and_submit_loses_no_slot(self, suite: RunningSuite):
        """Six packages, two annotators each and then five: 30 submissions, however claims and changes meet."""
        campaign = await campaign_of(suite, package_size=2, segments=[1, 2, 3], annotations_per_segment=2)

        async def work(annotator: str) -> None:
            while (answer := await ask(suite, campaign, annotator)).status_code == 201:
                await work_through(suite, answer.json())

        async def grow() -> None:
            for count in (3, 4, 5):
                await changed(suite, campaign, annotations_per_segment=count)

        await asyncio.gather(grow(), *(work(f"ann{number}") for number in range(6)))
        for number in range(15):
            await work(f"late{number}")
        found = await state_of(suite, campaign)
        assert found["packages"] == 6
        assert found["submitted"] == 30
        assert found["state"] == "complete"
        assert set(packages(suite, campaign, "slots_left")) == {0}


class TestDraft:
    async def test_is_built_again_where_its_packages_would_be_others(self, suite: RunningSuite):
        draft = await draft_of(suite)
        assert (draft["items"], draft["packages"]) == (8, 2)
        found = await changed(suite, draft, segments=[3], package_size=2, annotations_per_segment=1, name="edited")
        assert found["state"] == "building"
        admin = await suite.client("annotation", "admin")
        built = await until(admin, f"/v1/campaigns/{draft['id']}", "draft")
        assert built["items"] == 4
        assert built["packages"] == 2
        assert built["segments"] == [3]
        assert built["name"] == "edited"
        assert (await admin.post(f"/v1/campaigns/{draft['id']}/open")).json()["state"] == "open"
        assert [len(item["turns"]) for item in (await claim(suite, draft, "ann"))["items"]] == [6, 6]

    async def test_takes_the_newest_version_of_another_protocol(self, suite: RunningSuite):
        draft = await draft_of(suite)
        found = await changed(suite, draft, protocol="dialogue_likert")
        assert (found["protocol"], found["protocol_version"]) == ("dialogue_likert", 2)
        admin = await suite.client("annotation", "admin")
        built = await until(admin, f"/v1/campaigns/{draft['id']}", "draft")
        shown = (await admin.get(f"/v1/campaigns/{draft['id']}/preview/package")).json()
        assert (built["items"], shown["protocol"]["name"]) == (4, "dialogue_likert")

    async def test_is_mended_after_it_failed(self, suite: RunningSuite):
        collection = await import_conversations(suite, [conversation("short", "X", "Y", 1)])
        admin = await suite.client("annotation", "admin")
        body = {"name": "f", "domain": "everyday", "collection_id": collection, "segments": [9]}
        campaign = await created(admin, "/v1/campaigns", body)
        failed = await until(admin, f"/v1/campaigns/{campaign['id']}", "failed")
        assert failed["failure"]
        await changed(suite, failed, segments=[1])
        built = await until(admin, f"/v1/campaigns/{campaign['id']}", "draft")
        assert (built["items"], built["failure"]) == (1, None)

    async def test_with_uploaded_packages_keeps_what_they_were_uploaded_for(self, suite: RunningSuite):
        draft = await draft_of(suite, mode="uploaded")
        admin = await suite.client("annotation", "admin")
        package = {"external_id": "p", "segments": [{"conversation": "d0", "exchanges": 1}]}
        await created(admin, f"/v1/campaigns/{draft['id']}/packages", {"packages": [package]})
        assert set(await faults(suite, draft, segments=[3])) == {"/segments"}
        assert (await changed(suite, draft, instructions="Read."))["packages"] == 1


class TestDeletedDraft:
    async def test_is_gone_with_its_packages_and_leaves_an_audit_entry(self, suite: RunningSuite):
        draft = await draft_of(suite, panel=PROLIFIC)
        admin = await suite.client("annotation", "admin")
        path = f"/v1/campaigns/{draft['id']}"
        link = await created(admin, f"{path}/entry-links", {})
        assert (await admin.delete(path)).status_code == 204
        assert (await admin.get(path)).status_code == 404
        assert (await admin.delete(path)).status_code == 404
        assert draft["id"] not in {each["id"] for each in (await admin.get("/v1/campaigns")).json()["items"]}
        for table in ("packages", "items", "shown_conversations", "entry_links"):
            campaigns = {row for (row,) in rows(suite, f"SELECT campaign_id FROM annotation.{table}")}  # noqa: S608 - a name
            assert UUID(draft["id"]) not in campaigns, table
        assert await audit(suite, draft, "campaign.deleted") == [{"name": "draft"}]
        assert link["query"]

    async def test_can_be_made_again_by_the_same_request(self, suite: RunningSuite):
        collection = await import_conversations(suite, [conversation("c", "X", "Y")])
        admin = await suite.client("annotation", "admin")
        body = {"name": "again", "domain": "everyday", "collection_id": collection, "segments": [1], "open": False}
        made = []
        for _ in range(2):
            answer = await admin.post("/v1/campaigns", json=body, headers={"Idempotency-Key": "draft/again"})
            made.append(answer.json()["id"])
            await until(admin, f"/v1/campaigns/{made[-1]}", "draft")
            assert (await admin.delete(f"/v1/campaigns/{made[-1]}")).status_code == 204
        assert made[0] != made[1]

    async def test_was_not_opened_and_nobody_entered_it(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        running = await campaign_of(suite)
        answer = await admin.delete(f"/v1/campaigns/{running['id']}")
        assert (answer.status_code, answer.json()["type"]) == (409, f"{_PROBLEM}campaign-not-deletable")
        assert answer.json()["detail"] == "The campaign 'c' is open: only a draft can be deleted. Close it instead."
        draft = await draft_of(suite, consent="Yes?")
        frontend = await suite.client("annotation", "annotation")
        said = {"annotator": "ann", "sha256": draft["consent_sha256"]}
        assert (await frontend.post(f"/v1/campaigns/{draft['id']}/consents", json=said)).status_code == 200
        answer = await admin.delete(f"/v1/campaigns/{draft['id']}")
        assert (answer.status_code, answer.json()["type"]) == (409, f"{_PROBLEM}annotators-entered")

    async def test_is_deleted_or_opened_where_both_come_at_once(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        for _ in range(4):
            draft = await draft_of(suite)
            path = f"/v1/campaigns/{draft['id']}"
            deleted, opened = await asyncio.gather(admin.delete(path), admin.post(f"{path}/open"))
            assert (deleted.status_code, opened.status_code) in {(204, 404), (409, 200)}

    async def test_is_entered_by_nobody_while_it_is_deleted(self, suite: RunningSuite, databases: Databases):
        draft = await draft_of(suite, consent="Yes?")
        frontend = await suite.client("annotation", "annotation")
        said = {"annotator": "ann", "sha256": draft["consent_sha256"]}
        with psycopg.connect(suite.database.owner["annotation"]) as connection:
            for table in ("items", "packages", "shown_conversations"):
                connection.execute(f"DELETE FROM annotation.{table} WHERE campaign_id = %s", [draft["id"]])  # noqa: S608 - a name
            connection.execute("DELETE FROM annotation.campaigns WHERE id = %s", [draft["id"]])
            entering = asyncio.create_task(frontend.post(f"/v1/campaigns/{draft['id']}/consents", json=said))
            await locks_awaited(databases.admin_url(suite.database), 1)
            connection.commit()
        answer = await entering
        assert (answer.status_code, answer.json()["type"]) == (404, f"{_PROBLEM}no-such-campaign")


class TestPreviewedPackage:
    async def test_is_the_first_one_and_stores_nothing(self, suite: RunningSuite):
        draft = await draft_of(suite, instructions="Read.")
        admin = await suite.client("annotation", "admin")
        path = f"/v1/campaigns/{draft['id']}"
        shown = (await admin.get(f"{path}/preview/package")).json()
        assert "X" not in {text for item in shown["items"] for turn in item["turns"] for text in turn.values()}
        assert await state_of(suite, draft) == draft
        assert (await admin.post(f"{path}/open")).status_code == 200
        claimed = await claim(suite, draft, "ann")
        assert [item["turns"] for item in claimed["items"]] == [item["turns"] for item in shown["items"]]
        assert (shown["instructions"], shown["opens_exchanges"]) == ("Read.", False)

    async def test_is_for_administrators_alone(self, suite: RunningSuite):
        draft = await draft_of(suite)
        path = f"/v1/campaigns/{draft['id']}"
        for role in ("annotation", "analyst", "service", "team"):
            client = await suite.client("annotation", role, **({"team": "t"} if role == "team" else {}))
            answers = [
                await client.get(f"{path}/preview/package"),
                await client.patch(path, json={"name": "x"}),
                await client.delete(path),
            ]
            assert [each.status_code for each in answers] == [403] * 3, role
