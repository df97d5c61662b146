import asyncio
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest
from pydantic import SecretStr, ValidationError

from spotthebot.annotation.leases import store as leases_store
from spotthebot.annotation.settings import AnnotationSettings
from tests.factories.annotating import (
    DECISION,
    answer_items,
    ask,
    claim,
    movable_clock,
    refused,
    rows,
    save,
    waited_for,
    work_through,
)
from tests.factories.campaigns import CONVERSATIONS, campaign_of
from tests.factories.running_suite import RunningSuite


def _ids(suite: RunningSuite, table: str) -> list[str]:
    with psycopg.connect(suite.database.owner["conversations"]) as connection:
        return [row_id for (row_id,) in connection.execute(f"SELECT id::text FROM conversations.{table}")]  # noqa: S608 - no input


def _leaves(value: Any) -> Iterator[str]:
    """Yield every name and value of a JSON document, however deep."""
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _leaves(each)
    else:
        yield str(value)


class TestWhatIsShown:
    async def test_is_texts_and_nothing_of_who_speaks(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        assignment = await claim(suite, campaign, "w")
        assert {turn["speaker"] for item in assignment["items"] for turn in item["turns"]} == {"A", "B"}
        frontend = await suite.client("annotation", "annotation")
        read = [
            assignment,
            (await frontend.get(f"/v1/assignments/{assignment['id']}")).json(),
            (await frontend.get(f"/v1/campaigns/{campaign['id']}")).json(),
            (await frontend.get("/v1/campaigns")).json(),
            await work_through(suite, assignment),
        ]
        secrets = {"SECRET-GPT", "SECRET-DR", *_ids(suite, "conversations"), *_ids(suite, "corpora")}
        assert len(secrets) == 2 + len(CONVERSATIONS)
        leaves = [leaf for document in read for leaf in _leaves(document)]
        assert len(leaves) > 50
        assert {leaf for leaf in leaves for secret in secrets if secret in leaf} == set()
        # The operator's handle on a campaign's conversations is there, and opens nothing for this key.
        assert set(_ids(suite, "collections")) & set(leaves) == {campaign["collection_id"]}
        conversations = await suite.client("conversations", "annotation")
        for path in ("", "/conversations", "/export", "/texts/stream", "/speakers/stream", "/latencies/stream"):
            answer = await conversations.get(f"/v1/collections/{campaign['collection_id']}{path}")
            assert answer.status_code == 403

    async def test_holds_no_id_of_an_item_so_that_two_annotators_have_nothing_to_compare(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        shown = await claim(suite, campaign, "w")
        assert {key for item in shown["items"] for key in item} == {
            *("position", "turns", "right_turns", "opened", "decisions", "step", "answer", "version")
        }
        assert [item["position"] for item in shown["items"]] == [0, 1]

    async def test_is_the_protocol_with_its_questions(self, suite: RunningSuite):
        shown = await claim(suite, await campaign_of(suite), "w")
        questions = [each["id"] for step in shown["protocol"]["steps"] for each in step["questions"]]
        assert questions == ["entity", "fluency", "sensibleness", "specificity"]

    async def test_is_stored_without_who_speaks(self, suite: RunningSuite):
        await campaign_of(suite)
        stored = rows(suite, "SELECT c::text FROM annotation.shown_conversations c")
        assert len(stored) == 4
        assert not any("SECRET" in row for (row,) in stored)


class TestRelease:
    async def test_gives_the_package_to_others_and_its_answers_back_to_the_annotator(self, suite: RunningSuite):
        campaign = await campaign_of(suite, 2, annotations_per_segment=1, segments=[1])
        held = await claim(suite, campaign, "ann")
        assert (await save(suite, held, 0, DECISION)).status_code == 200
        frontend = await suite.client("annotation", "annotation")
        path = f"/v1/assignments/{held['id']}"
        given_back = [(await frontend.post(f"{path}/release")).json() for _ in range(2)]
        assert given_back == 2 * [{"state": "expired", "expires_at": given_back[0]["expires_at"]}]
        assert given_back[0]["expires_at"] < held["expires_at"]
        late = (await save(suite, held, 0, DECISION)).json()
        assert late["type"].endswith(":assignment-expired")
        ended_at = datetime.fromisoformat(given_back[0]["expires_at"])
        assert datetime.fromisoformat(late["detail"].split()[4].rstrip(":")) <= ended_at
        again = await claim(suite, campaign, "ann")
        assert (again["id"], again["items"][0]["answer"]) == (held["id"], DECISION)
        await frontend.post(f"{path}/release")
        await claim(suite, campaign, "bob")
        assert await refused(suite, campaign, "ann") == "nothing-left"

    async def test_is_refused_for_submitted_work(self, suite: RunningSuite):
        held = await claim(suite, await campaign_of(suite), "ann")
        await work_through(suite, held)
        frontend = await suite.client("annotation", "annotation")
        answer = await frontend.post(f"/v1/assignments/{held['id']}/release", json={})
        assert (answer.status_code, answer.json()["type"].rpartition(":")[2]) == (409, "assignment-submitted")


class TestClaim:
    async def test_for_nothing_new_returns_only_what_is_held(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        frontend = await suite.client("annotation", "annotation")
        path, body = f"/v1/campaigns/{campaign['id']}/assignments", {"annotator": "ann", "new": False}
        assert (await frontend.post(path, json=body)).json()["type"].endswith(":no-package-held")
        held = await claim(suite, campaign, "ann")
        assert (await frontend.post(path, json=body)).json()["id"] == held["id"]

    async def test_gives_an_annotator_who_asks_again_the_same_package(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        assert (await claim(suite, campaign, "w"))["id"] == (await claim(suite, campaign, "w"))["id"]

    async def test_skips_conversations_that_the_annotator_has_seen(self, suite: RunningSuite):
        campaign = await campaign_of(suite, annotations_per_segment=1)
        texts: list[str] = []
        for _ in range(2):  # two blocks of two conversations: one package of each
            assignment = await claim(suite, campaign, "w")
            texts += [item["turns"][0]["text"] for item in assignment["items"]]
            await work_through(suite, assignment)
        assert len(set(texts)) == len(texts) == 4
        assert await refused(suite, campaign, "w") == "nothing-left"

    async def test_fills_every_package_when_twelve_annotators_ask_at_once(self, suite: RunningSuite):
        campaign = await campaign_of(suite, annotations_per_segment=2)
        answers = await asyncio.gather(*(ask(suite, campaign, f"w{number}") for number in range(12)))
        codes = [answer.status_code for answer in answers]
        assert (codes.count(201), codes.count(409)) == (8, 4)  # 4 packages, 2 annotators each
        assert rows(suite, "SELECT count(*) FROM annotation.assignments GROUP BY package_id") == [(2,)] * 4
        assert rows(suite, "SELECT DISTINCT slots_left FROM annotation.packages") == [(0,)]

    async def test_gives_one_package_to_an_annotator_who_asks_six_times_at_once(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        await suite.client("annotation", "annotation")
        assignments = await asyncio.gather(*(claim(suite, campaign, "w") for _ in range(6)))
        assert len({each["id"] for each in assignments}) == 1

    async def test_waits_for_a_package_that_another_claim_holds_and_then_gives_back(self, suite: RunningSuite):
        """Two slots in one package: of two claims at once neither goes away with nothing."""
        campaign = await campaign_of(suite, 1, annotations_per_segment=2, segments=[1])
        for round_number in range(5):
            answers = await asyncio.gather(*(ask(suite, campaign, f"{round_number}-{each}") for each in "ab"))
            assert [answer.status_code for answer in answers] == [201, 201]
            with psycopg.connect(suite.database.owner["annotation"]) as connection:
                connection.execute("DELETE FROM annotation.assignments")
                connection.execute("UPDATE annotation.packages SET slots_left = 2")


class TestLease:
    async def test_ends_and_gives_the_package_to_another_annotator(self, suite: RunningSuite):
        campaign = await campaign_of(suite, 1, annotations_per_segment=1, segments=[1], lease_minutes=60)
        clock = movable_clock(suite)
        first = await claim(suite, campaign, "slow")
        clock.advance(minutes=59)
        assert await refused(suite, campaign, "quick") == "nothing-left"
        clock.advance(minutes=2)
        second = await claim(suite, campaign, "quick")
        assert [item["turns"] for item in second["items"]] == [item["turns"] for item in first["items"]]
        assert await refused(suite, campaign, "slow") == "nothing-left"

    async def test_ends_and_keeps_the_answers_for_the_same_annotator(self, suite: RunningSuite):
        campaign = await campaign_of(suite, 1, annotations_per_segment=1, segments=[1])
        clock = movable_clock(suite)
        first = await claim(suite, campaign, "w")
        await answer_items(suite, first)
        clock.advance(minutes=61)
        await claim(suite, campaign, "w2")
        with psycopg.connect(suite.database.owner["annotation"]) as connection:  # who goes away
            connection.execute("UPDATE annotation.assignments SET expires_at = now() - interval '1 day'")
        again = await claim(suite, campaign, "w")
        assert again["id"] == first["id"]
        assert [(item["step"], item["answer"]["entity"]["A"]) for item in again["items"]] == [(2, "human")]

    async def test_ends_and_is_renewed_where_nobody_else_came(self, suite: RunningSuite):
        campaign = await campaign_of(suite, 1, annotations_per_segment=1, segments=[1])
        clock = movable_clock(suite)
        first = await claim(suite, campaign, "w")
        clock.advance(minutes=61)
        again = await claim(suite, campaign, "w")
        assert (again["id"], again["state"]) == (first["id"], "leased")
        assert again["expires_at"] > first["expires_at"]

    async def test_is_longer_with_every_sign_of_life(self, suite: RunningSuite):
        campaign = await campaign_of(suite, 1, annotations_per_segment=1, segments=[1], lease_minutes=10)
        clock = movable_clock(suite)
        assignment = await claim(suite, campaign, "w")
        frontend = await suite.client("annotation", "annotation")
        for _ in range(4):
            clock.advance(minutes=8)
            kept = await frontend.post(f"/v1/assignments/{assignment['id']}/heartbeat")
            assert (kept.status_code, kept.json()["state"]) == (200, "leased")
        clock.advance(minutes=11)
        late = await frontend.post(f"/v1/assignments/{assignment['id']}/heartbeat", json={})
        assert (late.status_code, late.json()["type"]) == (409, "urn:spotthebot:problem:assignment-expired")

    async def test_never_ends_once_the_package_is_submitted(self, suite: RunningSuite):
        campaign = await campaign_of(suite, 2, annotations_per_segment=1, segments=[1], package_size=1)
        clock = movable_clock(suite)
        done = await claim(suite, campaign, "w")
        await work_through(suite, done)
        clock.advance(days=2)
        left = [await claim(suite, campaign, "late")]
        assert [item["turns"] for item in left[0]["items"]] != [item["turns"] for item in done["items"]]
        assert await refused(suite, campaign, "later") == "nothing-left"

    async def test_ends_by_the_worker_where_nobody_asks(self, suite: RunningSuite):
        campaign = await campaign_of(suite, 1, annotations_per_segment=1, segments=[1])
        await claim(suite, campaign, "w")
        with psycopg.connect(suite.database.owner["annotation"]) as connection:
            connection.execute("UPDATE annotation.assignments SET expires_at = now() - interval '1 second'")
        async with asyncio.timeout(20):
            while rows(suite, "SELECT state FROM annotation.assignments") != [("expired",)]:
                await asyncio.sleep(0.1)
        assert rows(suite, "SELECT slots_left FROM annotation.packages") == [(1,)]

    async def test_a_lease_ends_later_while_its_package_is_being_claimed(self, suite: RunningSuite):
        clock = movable_clock(suite)
        await claim(suite, await campaign_of(suite), "w")
        later = clock() + timedelta(days=1)
        database = suite.apps["annotation"].state.database.pool
        with psycopg.connect(suite.database.owner["annotation"]) as claiming:
            claiming.execute("SELECT id FROM annotation.packages FOR UPDATE")
            async with asyncio.timeout(20), database.write() as session:
                assert await leases_store.expire_leases(session, later) == 0
        async with database.write() as session:
            assert await leases_store.expire_leases(session, later) == 1

    @pytest.mark.parametrize("row", ["assignments", "packages"])
    @pytest.mark.parametrize("ends", [True, False])
    @pytest.mark.parametrize("came_before", [True, False])
    async def test_a_claim_waits_for_a_transaction_that_may_end_leases(
        self, suite: RunningSuite, row: str, ends: bool, came_before: bool
    ):
        """The other transaction locks what it ends, so the claim can't; it commits, or is rolled back."""
        campaign = await campaign_of(suite, 1, annotations_per_segment=1, segments=[1])
        clock = movable_clock(suite)
        if came_before:
            await claim(suite, campaign, "w")
            clock.advance(hours=3)
        await claim(suite, campaign, "w2")
        clock.advance(hours=3)
        owner = suite.database.owner["annotation"]
        async with await psycopg.AsyncConnection.connect(owner) as ending:
            await ending.execute(f"SELECT id FROM annotation.{row} FOR UPDATE")  # noqa: S608 - no input
            if ends:
                await ending.execute("UPDATE annotation.assignments SET state = 'expired'")
                await ending.execute("UPDATE annotation.packages SET slots_left = 1")
            asked = asyncio.create_task(claim(suite, campaign, "w"))
            await waited_for(ending)
        leased = (await asked)["id"]
        states = rows(suite, "SELECT id::text, state FROM annotation.assignments")
        assert (leased, "leased") in states
        assert sorted(state for _, state in states) == ["expired", "leased"]


class TestRefusals:
    async def test_name_the_limit_of_packages(self, suite: RunningSuite):
        campaign = await campaign_of(suite, packages_per_annotator=1)
        await work_through(suite, await claim(suite, campaign, "w"))
        assert await refused(suite, campaign, "w") == "limit-reached"
        assert (await ask(suite, campaign, "other")).status_code == 201

    async def test_name_a_campaign_that_is_a_draft_paused_or_closed(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        admin = await suite.client("annotation", "admin")
        for step in ("pause", "close"):
            assert (await admin.post(f"/v1/campaigns/{campaign['id']}/{step}")).status_code == 200
            assert await refused(suite, campaign, "w") == "closed"

    async def test_name_the_block_of_an_annotator(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        await claim(suite, campaign, "w")
        admin = await suite.client("annotation", "admin")
        (annotator,) = (await admin.get(f"/v1/campaigns/{campaign['id']}/annotators")).json()["items"]
        path = f"/v1/campaigns/{campaign['id']}/annotators/{annotator['id']}"
        for _ in range(2):
            blocked = (await admin.post(f"{path}/block", json={"reason": "all answers alike"})).json()
            assert blocked["annotator"] == "w"
            assert blocked["packages"] == 0
            assert blocked["blocked_reason"] == "all answers alike"
        assert await refused(suite, campaign, "w") == "blocked"
        assert (await admin.post(f"{path}/unblock", json={"reason": "appeal granted"})).json()["blocked_at"] is None
        assert (await ask(suite, campaign, "w")).status_code == 201
        audit = (await admin.get(f"/v1/campaigns/{campaign['id']}/audit")).json()["items"]
        assert [(each["action"], each["details"]["reason"], each["annotator_id"]) for each in audit] == [
            ("annotator.blocked", "all answers alike", annotator["id"]),
            ("annotator.unblocked", "appeal granted", annotator["id"]),
        ]


class TestFrontends:
    async def test_see_their_own_assignments_only(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        mine = await claim(suite, campaign, "w")
        other = await suite.client("annotation", "annotation", team="others")
        path = f"/v1/assignments/{mine['id']}"
        asked = [
            await other.get(path),
            await other.put(f"{path}/items/0", json={"answer": {}}),
            await other.post(f"{path}/heartbeat", json={}),
            await other.post(f"{path}/submit"),
        ]
        assert [answer.status_code for answer in asked] == [404] * 4

    async def test_have_annotators_of_one_name_who_are_two_people(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        answers = [await ask(suite, campaign, "w", team=team) for team in (None, "others")]
        assert len({answer.json()["id"] for answer in answers}) == 2


class TestAuditLog:
    async def test_is_only_ever_added_to(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        await claim(suite, campaign, "w")
        admin = await suite.client("annotation", "admin")
        (annotator,) = (await admin.get(f"/v1/campaigns/{campaign['id']}/annotators")).json()["items"]
        path = f"/v1/campaigns/{campaign['id']}/annotators/{annotator['id']}/block"
        assert (await admin.post(path, json={"reason": "r"})).status_code == 200
        for change in ("UPDATE annotation.audit_log SET action = 'x'", "DELETE FROM annotation.audit_log"):
            with (
                psycopg.connect(suite.database.app["annotation"].replace("+psycopg", "")) as connection,
                pytest.raises(psycopg.errors.RaiseException, match="only ever added"),
            ):
                connection.execute(change.encode())


def test_leases_are_looked_through_after_a_while_and_not_all_the_time():
    url = SecretStr("postgresql://nobody@127.0.0.1:1/none")
    assert AnnotationSettings(database_url=url, lease_check_seconds=0.001).lease_check_seconds == 0.001
    with pytest.raises(ValidationError, match="lease_check_seconds"):
        AnnotationSettings(database_url=url, lease_check_seconds=0)
