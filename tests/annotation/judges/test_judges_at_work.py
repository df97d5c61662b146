"""Judges at the task API: they label every unit beside people, and appear nowhere unless asked for by name."""

import json
from typing import Any
from uuid import UUID

import psycopg
import pytest
from sqlalchemy import text

from spotthebot.annotation.assignments.store.judge_claims import find_package
from spotthebot.clients import AsyncAnnotation
from spotthebot.kit.database.sessions import Database
from tests.factories.annotating import ask, claim, movable_clock, rows, state_of, submit, work_through
from tests.factories.campaigns import campaign_of, import_campaign, imported_annotation
from tests.factories.judges import (
    ANSWER,
    ENTITY,
    claim_as_judge,
    label_campaign,
    label_items,
    labels,
    store_judge,
    submit_labels,
)
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations

PAY = {"pay_per_package": "0.10", "currency": "EUR"}
_READ = "SELECT idx_tup_fetch + seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = 'packages'"
"""Rows of packages that this transaction read."""
SLOTS = "SELECT slots_left FROM annotation.packages ORDER BY id"


async def listed(suite: RunningSuite, path: str, role: str = "analyst", **params: Any) -> list[dict[str, Any]]:
    client = await suite.client("annotation", role)
    answer = await client.get(path, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


class TestClaims:
    async def test_take_every_package_once_and_no_slot(self, suite: RunningSuite):
        campaign = await campaign_of(suite, 4, packages_per_annotator=1)
        judge = await store_judge(suite)
        before = rows(suite, SLOTS)
        assert await label_campaign(suite, campaign, judge) == campaign["packages"] > 1
        assert rows(suite, SLOTS) == before
        after = await state_of(suite, campaign)
        assert (after["submitted"], after["annotations"], after["state"]) == (0, 0, "open")
        second = await store_judge(suite, seed=8)
        assert second["version"] == 2
        assert await label_campaign(suite, campaign, second) == campaign["packages"]

    async def test_give_the_same_package_until_it_is_submitted_and_a_lease_that_expired(self, suite: RunningSuite):
        clock = movable_clock(suite)
        campaign = await campaign_of(suite, lease_minutes=1)
        judge = await store_judge(suite)
        first = (await claim_as_judge(suite, campaign, judge)).json()
        assert (await claim_as_judge(suite, campaign, judge)).json()["id"] == first["id"]
        clock.advance(minutes=5)
        person = await claim(suite, campaign, "ann")  # ends leases that expired
        late = await submit_labels(suite, first)
        assert late.json()["type"].endswith("assignment-expired")
        again = (await claim_as_judge(suite, campaign, judge)).json()
        assert again["id"] == first["id"]
        assert (await submit_labels(suite, again)).status_code == 200
        assert (await submit_labels(suite, again)).json()["completion_code"]
        assert (await work_through(suite, person))["completion_code"]

    async def test_repeat_a_version_as_often_as_the_campaign_says(self, suite: RunningSuite):
        campaign = await campaign_of(suite, judge_annotations_per_segment=2)
        judge = await store_judge(suite)
        assert await label_campaign(suite, campaign, judge, "one") == campaign["packages"]
        assert await label_campaign(suite, campaign, judge, "two") == campaign["packages"]
        assert await label_campaign(suite, campaign, judge, "three") == 0

    async def test_do_not_look_at_the_packages_before(self, suite: RunningSuite):
        """After 1,990 of 2,000 packages a claim reads as few rows of packages as at the start, and still fills gaps."""
        campaign = await campaign_of(suite, 1, segments=[1], package_size=1, annotations_per_segment=1)
        judge = await store_judge(suite)
        assert (await claim_as_judge(suite, campaign, judge)).status_code == 201
        ((annotator, package),) = rows(suite, "SELECT annotator_id, package_id FROM annotation.assignments")
        with psycopg.connect(suite.database.owner["annotation"], autocommit=True) as connection:
            connection.execute(
                "INSERT INTO annotation.packages (id, campaign_id) SELECT ('f' || lpad(to_hex(n), 31, '0'))::uuid, %s"
                " FROM generate_series(1, 2000) AS n",
                [campaign["id"]],
            )
            connection.execute(
                "INSERT INTO annotation.assignments"
                " (id, campaign_id, package_id, annotator_id, state, leased_at, expires_at, takes_slot)"
                " SELECT gen_random_uuid(), campaign_id, id, %s, 'submitted', now(), now(), false"
                " FROM annotation.packages WHERE id > %s AND id < %s AND id <> %s",
                [annotator, package, UUID(f"f{1991:031x}"), UUID(f"f{50:031x}")],
            )
            connection.execute("ANALYZE annotation.packages, annotation.assignments")
        database = Database(suite.database.app["annotation"], pool_size=1)
        campaign_id = UUID(campaign["id"])
        async with database.read() as session:
            found = await find_package(session, campaign_id, annotator, most=1)
            read = await session.scalar(text(_READ))
        assert found == UUID(f"f{1991:031x}")
        assert read < 20
        with psycopg.connect(suite.database.owner["annotation"], autocommit=True) as connection:
            connection.execute("DELETE FROM annotation.packages WHERE id >= %s", [found])
        async with database.read() as session:
            assert await find_package(session, campaign_id, annotator, most=1) == UUID(f"f{50:031x}")
        await database.close()

    async def test_need_a_known_version_and_keep_it(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        judge = await store_judge(suite)
        unknown = await claim_as_judge(suite, campaign, judge | {"version": 9})
        assert (unknown.status_code, unknown.json()["type"].rpartition(":")[2]) == (422, "unknown-judge")
        assert (await claim_as_judge(suite, campaign, judge, "j")).status_code == 201
        other = await claim_as_judge(suite, campaign, await store_judge(suite, seed=8), "j")
        assert (other.status_code, other.json()["type"].rpartition(":")[2]) == (409, "other-judge-version")
        frontend = await suite.client("annotation", "annotation")
        path = f"/v1/campaigns/{campaign['id']}/assignments"
        for body in ({"kind": "judge"}, {"judge": judge}, {"kind": "simulated", "judge": judge}):
            assert (await frontend.post(path, json={"annotator": "x"} | body)).status_code == 422

    async def test_come_after_a_campaign_has_ended_and_into_imports_but_not_into_drafts(self, suite: RunningSuite):
        judge = await store_judge(suite)
        admin = await suite.client("annotation", "admin")
        campaign = await campaign_of(suite)
        assert (await admin.post(f"/v1/campaigns/{campaign['id']}/close")).status_code == 200
        assert await label_campaign(suite, campaign, judge) == campaign["packages"]
        collection = await import_conversations(suite, [conversation("c0", "X", "Y")])
        path = await import_campaign(suite, collection, {"p": [("c0", 1)]}, [imported_annotation("1")])
        assert await label_campaign(suite, {"id": path.rpartition("/")[2]}, judge) == 1
        assert (await admin.get(path)).json()["annotations"] == 1
        body = {"name": "d", "domain": "everyday", "collection_id": collection, "segments": [1], "open": False}
        draft = (await admin.post("/v1/campaigns", json=body)).json()
        assert (await claim_as_judge(suite, draft, judge)).json()["type"].endswith("closed")

    async def test_need_neither_consent_nor_training_and_see_no_gold(self, suite: RunningSuite):
        judge = await store_judge(suite)
        campaign = await campaign_of(
            suite, consent="Read this.", min_seconds_per_item=5, max_strikes=1, strike_fast_packages=True
        )
        assert await label_campaign(suite, campaign, judge) == campaign["packages"]
        (annotator,) = await listed(suite, f"/v1/campaigns/{campaign['id']}/annotators", "admin")
        assert (annotator["kind"], annotator["judge"]) == ("judge", {"name": "gpt", "version": 1})
        assert (annotator["fast_items"], annotator["blocked_at"]) == (0, None)

    async def test_leave_people_all_that_they_would_have_without_a_judge(self, suite: RunningSuite):
        """People complete the campaign with as many packages as without a judge, and see what it saw."""
        campaign = await campaign_of(suite, 2, annotations_per_segment=1, **PAY)
        judge = await store_judge(suite)
        assert await label_campaign(suite, campaign, judge) == campaign["packages"]
        number = 0
        while (claimed := await ask(suite, campaign, f"ann{number}")).status_code == 201:
            await work_through(suite, claimed.json())
            number += 1
        after = await state_of(suite, campaign)
        assert (number, after["state"]) == (campaign["packages"], "complete")
        assert (after["submitted"], after["annotations"]) == (after["assignments_needed"], after["annotations_needed"])
        payments = await listed(suite, f"/v1/campaigns/{campaign['id']}/payments", "admin")
        assert {each["annotator"] for each in payments} == {f"ann{each}" for each in range(number)}
        (program,) = (
            each for each in await listed(suite, f"/v1/campaigns/{campaign['id']}/annotators", "admin") if each["judge"]
        )
        admin = await suite.client("annotation", "admin")
        path = f"/v1/campaigns/{campaign['id']}/annotators/{program['id']}/bonuses"
        unpaid = await admin.post(path, json={"amount": "1.00", "reason": "Quick."})
        assert (unpaid.status_code, unpaid.json()["type"].rpartition(":")[2]) == (409, "judge-unpaid")


class TestLabels:
    async def test_are_kept_with_probabilities_missing_answers_tokens_and_cost(self, suite: RunningSuite):
        campaign = await campaign_of(suite, 1, segments=[1])
        judge = await store_judge(suite)
        assignment = (await claim_as_judge(suite, campaign, judge)).json()
        (item,) = label_items(assignment)
        stated = labels()
        stated["answers"][1] = {"question": "entity", "target": "B", "missing": "refused", "detail": "It said no."}
        item |= {"answer": ANSWER | {"entity": {"A": "human"}}, "labels": stated, "elapsed_ms": 1500}
        assert (await submit_labels(suite, assignment, [item])).status_code == 200
        path = f"/v1/campaigns/{campaign['id']}"
        (found,) = await listed(suite, f"{path}/annotations", judges="gpt")
        assert (found["annotator_kind"], found["judge"]) == ("judge", {"name": "gpt", "version": 1})
        assert (found["annotator"], found["elapsed_ms"]) == ("gpt-1", 1500)
        kept = found["judge_labels"]
        assert (kept["input_tokens"], kept["output_tokens"], kept["cost"]) == (90, 10, 0.01)
        by_key = {(each["question"], each["target"]): each for each in kept["answers"]}
        assert by_key["entity", "A"]["probabilities"] == ENTITY
        assert (by_key["entity", "B"]["missing"], by_key["entity", "B"]["probabilities"]) == ("refused", None)
        assert found["answer"]["entity"] == {"A": "human"}
        client = await suite.client("annotation", "analyst")
        lines = (await client.get(f"{path}/export", params={"judges": "*"})).text.splitlines()
        (exported,) = map(json.loads, lines)
        assert exported["judge_labels"] == kept
        values = (await client.get(f"{path}/export", params={"judges": "gpt", "rows": "values"})).text.splitlines()
        by_value = {(each["question"], each["target"]): each for each in map(json.loads, values)}
        assert (by_value["entity", "A"]["value"], by_value["entity", "A"]["probability"]) == ("human", 0.7)
        assert (by_value["entity", "B"]["value"], by_value["entity", "B"]["missing"]) == (None, "refused")
        text = (await client.get(f"{path}/export", params={"judges": "gpt", "format": "csv"})).text
        assert "judge_labels" in text.splitlines()[0]

    @pytest.mark.parametrize(
        ("changed", "why"),
        [
            ({"human": 0.5, "unsure": 0.1, "bot": 0.2}, "sum to 1"),
            ({"human": 0.9, "bot": 0.1}, "for each of human, bot, unsure"),
            ({"human": 0.9, "unsure": 0.1, "robot": 0}, "for each of"),
            ({"human": 1.5, "unsure": -0.5, "bot": 0}, "must be at most 1.0"),
            (None, "no probabilities"),
        ],
    )
    async def test_with_faulty_probabilities_are_refused(self, suite: RunningSuite, changed: Any, why: str):
        campaign = await campaign_of(suite, 1, segments=[1])
        assignment = (await claim_as_judge(suite, campaign, await store_judge(suite))).json()
        (item,) = label_items(assignment)
        item["labels"]["answers"][0]["probabilities"] = changed
        refused = await submit_labels(suite, assignment, [item])
        assert (refused.status_code, why in refused.text) == (422, True), refused.text
        assert await listed(suite, f"/v1/campaigns/{campaign['id']}/annotations", judges="*") == []

    async def test_name_every_question_and_item_once_answered_or_missing(self, suite: RunningSuite):
        campaign = await campaign_of(suite, 2, segments=[1])
        assignment = (await claim_as_judge(suite, campaign, await store_judge(suite))).json()
        items = label_items(assignment)
        assert len(items) == 2
        lacking = await submit_labels(suite, assignment, items[:1])
        assert lacking.json()["type"].endswith("items-unanswered")
        assert (await submit_labels(suite, assignment, [*items, items[0]])).status_code == 422
        assert (await submit_labels(suite, assignment, [items[0], items[1] | {"position": 7}])).status_code == 409
        faulty = labels()
        faulty["answers"].append(faulty["answers"][0])
        twice = await submit_labels(suite, assignment, [items[0] | {"labels": faulty}, items[1]])
        assert "stands here twice" in twice.text
        both = labels()
        both["answers"][0] = {"question": "entity", "target": "A", "missing": "failed"}
        assert "leave out one" in (await submit_labels(suite, assignment, [items[0] | {"labels": both}, items[1]])).text
        silent = items[0] | {"answer": {"entity": {"B": "bot"}}, "labels": {"answers": labels()["answers"][1:2]}}
        assert "why it is missing" in (await submit_labels(suite, assignment, [silent, items[1]])).text
        none = [{"question": "entity", "target": target, "missing": "failed"} for target in ("A", "B")] + [
            {"question": name, "missing": "failed"} for name in ("fluency", "sensibleness", "specificity")
        ]
        absent = items[0] | {"answer": {}, "labels": {"answers": none}}
        assert (await submit_labels(suite, assignment, [absent, items[1]])).status_code == 200

    async def test_come_from_judges_alone_and_judges_submit_no_other_way(self, suite: RunningSuite):
        campaign = await campaign_of(suite, 1, segments=[1])
        person = await claim(suite, campaign, "ann")
        refused = await submit_labels(suite, person)
        assert (refused.status_code, refused.json()["type"].rpartition(":")[2]) == (409, "has-no-labels")
        program = (await claim_as_judge(suite, campaign, await store_judge(suite))).json()
        plain = await submit(suite, program)
        assert (plain.status_code, plain.json()["type"].rpartition(":")[2]) == (409, "submits-with-labels")

    async def test_disappear_when_they_are_rejected_and_free_no_slot(self, suite: RunningSuite):
        campaign = await campaign_of(suite, 1, segments=[1])
        assignment = (await claim_as_judge(suite, campaign, await store_judge(suite))).json()
        assert (await submit_labels(suite, assignment)).status_code == 200
        before = rows(suite, SLOTS)
        admin = await suite.client("annotation", "admin")
        path = f"/v1/campaigns/{campaign['id']}"
        done = await admin.post(f"{path}/assignments/{assignment['id']}/reject", json={"reason": "Nonsense."})
        assert done.status_code == 200
        assert await listed(suite, f"{path}/annotations", judges="*") == []
        assert (rows(suite, SLOTS), (await state_of(suite, campaign))["submitted"]) == (before, 0)


class TestReaders:
    async def test_leave_out_judges_unless_they_are_named(self, suite: RunningSuite):
        campaign = await campaign_of(suite, 1, segments=[1])
        path = f"/v1/campaigns/{campaign['id']}"
        await work_through(suite, await claim(suite, campaign, "ann"))
        client = await suite.client("annotation", "analyst")
        revision = (await client.get(f"{path}/annotations/revision")).json()
        for name in ("gpt", "other"):
            await label_campaign(suite, campaign, await store_judge(suite, name))
        assert (await client.get(f"{path}/annotations/revision")).json() == revision
        named = {(): 1, ("gpt",): 2, ("gpt", "other"): 3, ("*",): 3, ("nobody",): 1}
        for judges, count in named.items():
            params: dict[str, Any] = {"judges": list(judges)}
            assert len(await listed(suite, f"{path}/annotations", **params)) == count
            assert len((await client.get(f"{path}/annotations/stream", params=params)).text.splitlines()) == count
            assert len((await client.get(f"{path}/export", params=params)).text.splitlines()) == count
            found = (await client.get(f"{path}/annotations/revision", params=params)).json()
            assert (found["annotations"], found == revision) == (count, count == 1)
        (person,) = (each for each in await listed(suite, f"{path}/annotators", "admin") if not each["judge"])
        admin = await suite.client("annotation", "admin")
        quality = (await admin.get(f"{path}/annotators/{person['id']}/quality")).json()
        assert (quality["agreement"], quality["others_median_seconds"]) == ({}, None)

    async def test_name_judges_of_imports_by_their_annotators(self, suite: RunningSuite):
        collection = await import_conversations(suite, [conversation("c0", "X", "Y")])
        said = [
            imported_annotation("1"),
            imported_annotation("2", annotator="gpt", annotator_kind="judge", answer=ANSWER, judge_labels=labels()),
            imported_annotation("3", annotator="old", annotator_kind="judge"),
        ]
        path = await import_campaign(suite, collection, {"p": [("c0", 1)]}, said)
        admin = await suite.client("annotation", "admin")
        assert (await admin.get(path)).json()["annotations"] == 1
        (found,) = (each for each in await listed(suite, f"{path}/annotations", judges="gpt") if each["judge"])
        assert (found["judge"], found["judge_labels"]["cost"]) == ({"name": "gpt", "version": None}, 0.01)
        wrong = imported_annotation("4", judge_labels=labels(), answer=ANSWER)
        refused = await admin.post(f"{path}/annotations", json={"annotations": [wrong]})
        assert (refused.status_code, "is for judges" in refused.text) == (422, True)

    async def test_read_by_the_python_client(self, suite: RunningSuite):
        campaign = await campaign_of(suite, 1, segments=[1])
        await label_campaign(suite, campaign, await store_judge(suite))
        client = await suite.client("annotation", "analyst")
        key = client.headers["Authorization"].removeprefix("Bearer ")
        async with AsyncAnnotation(str(client.base_url), key) as annotation:
            streamed = [each async for each in annotation.stream_annotations(campaign["id"], judges=["gpt"])]
            assert [each.judge and each.judge.name for each in streamed] == ["gpt"]
            assert [each async for each in annotation.stream_annotations(campaign["id"])] == []
