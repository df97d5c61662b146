import asyncio
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest

from spotthebot.annotation import use_cases
from spotthebot.annotation.domain.campaigns import Assignment
from spotthebot.annotation.domain.errors import NothingToClaim
from spotthebot.kit.database import Database, WriteSession
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import (
    JUDGEMENT,
    conversation,
    created,
    import_conversations,
    open_campaign,
    until,
)

CONVERSATIONS = [conversation(f"c{number}", "SECRET-GPT", "SECRET-DR") for number in range(4)]


async def _campaign(suite: RunningSuite, **more: Any) -> dict[str, Any]:
    collection = await import_conversations(suite, CONVERSATIONS)
    return await open_campaign(suite, collection, **{"package_size": 2} | more)


async def _claim(suite: RunningSuite, campaign: dict[str, Any], worker: str) -> dict[str, Any]:
    frontend = await suite.client("annotation", "annotation")
    return await created(frontend, f"/v1/campaigns/{campaign['id']}/assignments", {"worker": worker})


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


async def _judge(suite: RunningSuite, assignment: dict[str, Any], **change: Any) -> dict[str, Any]:
    frontend = await suite.client("annotation", "annotation")
    answer = {}
    for segment in assignment["segments"]:
        path = f"/v1/assignments/{assignment['id']}/annotations/{segment['id']}"
        put = await frontend.put(path, json=JUDGEMENT | change)
        assert put.status_code == 200, put.text
        answer = put.json()
    return answer


class TestClaimPackage:
    async def test_shows_texts_and_nothing_of_who_speaks(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        assignment = await _claim(suite, campaign, "w")
        assert {turn["speaker"] for segment in assignment["segments"] for turn in segment["turns"]} == {"A", "B"}
        frontend = await suite.client("annotation", "annotation")
        read = [
            assignment,
            (await frontend.get(f"/v1/assignments/{assignment['id']}")).json(),
            (await frontend.get(f"/v1/campaigns/{campaign['id']}")).json(),
            (await frontend.get("/v1/campaigns")).json(),
            await _judge(suite, assignment),
        ]
        secrets = {"SECRET-GPT", "SECRET-DR", *_ids(suite, "conversations"), *_ids(suite, "corpora")}
        assert len(secrets) == 2 + len(CONVERSATIONS)
        leaves = [leaf for document in read for leaf in _leaves(document)]
        assert len(leaves) > 50
        assert {leaf for leaf in leaves for secret in secrets if secret in leaf} == set()
        # The operator's handle on a campaign's conversations is there, and opens nothing for this key.
        assert set(_ids(suite, "collections")) & set(leaves) == {campaign["collection_id"]}
        conversations = await suite.client("conversations", "annotation")
        for path in ("", "/conversations", "/conversations/stream"):
            answer = await conversations.get(f"/v1/collections/{campaign['collection_id']}{path}")
            assert answer.status_code == 403

    async def test_the_database_of_annotation_does_not_know_either(self, suite: RunningSuite):
        await _campaign(suite)
        with psycopg.connect(suite.database.owner["annotation"]) as connection:
            rows = connection.execute("SELECT c::text FROM annotation.shown_conversations c").fetchall()
        assert len(rows) == 4
        assert not any("SECRET" in row for (row,) in rows)

    async def test_who_asks_again_gets_the_same_package(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        assert (await _claim(suite, campaign, "w"))["id"] == (await _claim(suite, campaign, "w"))["id"]

    async def test_skips_conversations_the_worker_has_seen(self, suite: RunningSuite):
        campaign = await _campaign(suite, annotations_per_segment=1)
        frontend = await suite.client("annotation", "annotation")
        texts: list[str] = []
        for _ in range(2):  # two blocks of two conversations: one package of each
            assignment = await _claim(suite, campaign, "w")
            texts += [segment["turns"][0]["text"] for segment in assignment["segments"]]
            await _judge(suite, assignment)
        assert len(set(texts)) == len(texts) == 4
        answer = await frontend.post(f"/v1/campaigns/{campaign['id']}/assignments", json={"worker": "w"})
        assert (answer.status_code, answer.json()["type"]) == (404, "urn:spotthebot:problem:nothing-to-claim")

    async def test_many_at_once_fill_every_package_and_none_too_much(self, suite: RunningSuite):
        campaign = await _campaign(suite, annotations_per_segment=2)
        frontend = await suite.client("annotation", "annotation")
        path = f"/v1/campaigns/{campaign['id']}/assignments"
        answers = await asyncio.gather(*(frontend.post(path, json={"worker": f"w{n}"}) for n in range(12)))
        codes = [answer.status_code for answer in answers]
        assert (codes.count(201), codes.count(404)) == (8, 4)  # 4 packages, 2 judges each
        with psycopg.connect(suite.database.owner["annotation"]) as connection:
            rows = connection.execute("SELECT count(*) FROM annotation.assignments GROUP BY package_id").fetchall()
        assert rows == [(2,)] * 4

    async def test_one_worker_asking_many_times_at_once_gets_one_package(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        assignments = await asyncio.gather(*(_claim(suite, campaign, "w") for _ in range(6)))
        assert len({each["id"] for each in assignments}) == 1

    async def test_a_package_taken_up_again_is_not_given_to_another_meanwhile(self, suite: RunningSuite):
        campaign = await _campaign(suite, annotations_per_segment=1, segments=[1], package_size=4)
        await _claim(suite, campaign, "slow")
        with psycopg.connect(suite.database.owner["annotation"]) as connection:
            connection.execute("UPDATE annotation.assignments SET state = 'expired', expires_at = now()")
        database = Database(suite.database.app["annotation"], pool_size=2)

        async def claim(session: WriteSession, worker: str) -> Assignment:
            return await use_cases.claim_package(session, UUID(campaign["id"]), worker, ttl_seconds=60)

        async def claim_meanwhile() -> None:
            async with database.write() as session:
                await claim(session, "quick")

        async with database.write() as session:
            await claim(session, "slow")
            meanwhile = asyncio.create_task(claim_meanwhile())
            await asyncio.wait([meanwhile], timeout=0.3)  # time enough to go wrong before the first claim commits
        with pytest.raises(NothingToClaim):
            await meanwhile
        await database.close()

    async def test_a_package_not_judged_in_time_goes_to_somebody_else(self, suite: RunningSuite):
        campaign = await _campaign(suite, annotations_per_segment=1, segments=[1])
        first = await _claim(suite, campaign, "slow")
        await _claim(suite, campaign, "other")
        with psycopg.connect(suite.database.owner["annotation"]) as connection:
            connection.execute("UPDATE annotation.assignments SET expires_at = now() WHERE worker = 'slow'")
        taken = await _claim(suite, campaign, "quick")
        assert [each["id"] for each in taken["segments"]] == [each["id"] for each in first["segments"]]
        frontend = await suite.client("annotation", "annotation")
        path = f"/v1/assignments/{first['id']}/annotations/{first['segments'][0]['id']}"
        assert (await frontend.put(path, json=JUDGEMENT)).status_code == 409

    async def test_a_package_expired_in_ones_own_hands_can_be_taken_up_again(self, suite: RunningSuite):
        campaign = await _campaign(suite, annotations_per_segment=1, segments=[1])
        first = await _claim(suite, campaign, "w")
        with psycopg.connect(suite.database.owner["annotation"]) as connection:
            connection.execute("UPDATE annotation.assignments SET expires_at = now()")
        assert (await _claim(suite, campaign, "w"))["id"] == first["id"]


class TestSubmitAnnotation:
    async def test_the_last_one_completes_and_gives_a_code(self, suite: RunningSuite):
        campaign = await _campaign(suite, annotations_per_segment=1)
        assignment = await _claim(suite, campaign, "w")
        done = await _judge(suite, assignment)
        assert done["state"] == "complete"
        assert done["annotated"] == done["segments"] == len(assignment["segments"])
        assert done["completion_code"]
        assert (await _judge(suite, assignment))["completion_code"] == done["completion_code"]  # said again: the same
        frontend = await suite.client("annotation", "annotation")
        path = f"/v1/assignments/{assignment['id']}/annotations/{assignment['segments'][0]['id']}"
        assert (await frontend.put(path, json=JUDGEMENT | {"label_a": "unsure"})).status_code == 409

    async def test_a_judgement_can_be_changed_until_then(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        assignment = await _claim(suite, campaign, "w")
        frontend = await suite.client("annotation", "annotation")
        path = f"/v1/assignments/{assignment['id']}/annotations/{assignment['segments'][0]['id']}"
        for label in ("bot", "unsure"):
            assert (await frontend.put(path, json=JUDGEMENT | {"label_a": label})).status_code == 200
        analyst = await suite.client("annotation", "analyst")
        stored = (await analyst.get(f"/v1/campaigns/{campaign['id']}/annotations")).json()["items"]
        assert [each["label_a"] for each in stored] == ["unsure"]

    async def test_segments_of_others_and_labels_unknown_are_refused(self, suite: RunningSuite):
        campaign = await _campaign(suite, annotations_per_segment=1)
        mine, theirs = await _claim(suite, campaign, "w1"), await _claim(suite, campaign, "w2")
        frontend = await suite.client("annotation", "annotation")
        path = f"/v1/assignments/{mine['id']}/annotations"
        foreign = theirs["segments"][0]["id"]
        assert (await frontend.put(f"{path}/{foreign}", json=JUDGEMENT)).status_code == 422
        own = mine["segments"][0]["id"]
        assert (await frontend.put(f"{path}/{own}", json=JUDGEMENT | {"label_a": "robot"})).status_code == 422

    async def test_all_judged_the_campaign_is_complete(self, suite: RunningSuite):
        campaign = await _campaign(suite, annotations_per_segment=1)
        for number in range(4):
            await _judge(suite, await _claim(suite, campaign, f"w{number}"))
        admin = await suite.client("annotation", "admin")
        found = (await admin.get(f"/v1/campaigns/{campaign['id']}")).json()
        assert (found["state"], found["annotations"], found["annotations_needed"]) == ("complete", 8, 8)


class TestCampaigns:
    async def test_frontends_may_not_read_labels_or_create(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        frontend = await suite.client("annotation", "annotation")
        for path in ("annotations", "annotations/stream", "packages"):
            assert (await frontend.get(f"/v1/campaigns/{campaign['id']}/{path}")).status_code == 403
        assert (await frontend.post("/v1/campaigns", json={})).status_code == 403
        assert (await frontend.put(f"/v1/campaigns/{campaign['id']}/closing")).status_code == 403
        analytics = await suite.client("analytics", "annotation")
        for result in ("win-rates", "ranking", "survival", "fooling-rates"):
            assert (await analytics.get(f"/v1/campaigns/{campaign['id']}/{result}")).status_code == 403

    async def test_a_closed_campaign_gives_out_nothing(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        admin = await suite.client("annotation", "admin")
        assert (await admin.put(f"/v1/campaigns/{campaign['id']}/closing")).json()["state"] == "complete"
        frontend = await suite.client("annotation", "annotation")
        answer = await frontend.post(f"/v1/campaigns/{campaign['id']}/assignments", json={"worker": "w"})
        assert (answer.status_code, answer.json()["type"]) == (409, "urn:spotthebot:problem:campaign-not-open")

    async def test_what_was_claimed_before_closing_may_still_be_judged(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        assignment = await _claim(suite, campaign, "w")
        admin = await suite.client("annotation", "admin")
        await admin.put(f"/v1/campaigns/{campaign['id']}/closing")
        assert (await _judge(suite, assignment))["state"] == "complete"

    async def test_a_collection_that_is_still_collected_is_refused(self, suite: RunningSuite):
        collection = await import_conversations(suite, CONVERSATIONS)
        with psycopg.connect(suite.database.owner["conversations"]) as connection:
            connection.execute("UPDATE conversations.conversations SET state = 'running' WHERE external_id = 'c0'")
            connection.execute("UPDATE conversations.collections SET state = 'collecting', complete = complete - 1")
        admin = await suite.client("annotation", "admin")
        body = {"name": "c", "domain": "everyday", "collection_id": collection}
        answer = await admin.post("/v1/campaigns", json=body)
        assert (answer.status_code, "1 conversations are not finished" in answer.text) == (409, True)
        assert (await admin.get("/v1/campaigns")).json()["items"] == []

    async def test_conversations_that_failed_are_not_shown(self, suite: RunningSuite):
        collection = await import_conversations(suite, CONVERSATIONS)
        with psycopg.connect(suite.database.owner["conversations"]) as connection:
            connection.execute("UPDATE conversations.conversations SET state = 'failed' WHERE external_id = 'c0'")
        campaign = await open_campaign(suite, collection)
        assert campaign["annotations_needed"] == 3 * 2 * 2  # conversations, segments, judges

    async def test_conversations_too_short_fail_the_campaign_with_a_reason(self, suite: RunningSuite):
        collection = await import_conversations(suite, CONVERSATIONS)
        admin = await suite.client("annotation", "admin")
        body = {"name": "c", "domain": "everyday", "collection_id": collection, "segments": [9]}
        campaign = await created(admin, "/v1/campaigns", body)
        failed = await until(admin, f"/v1/campaigns/{campaign['id']}", "failed")
        assert "9 exchanges" in failed["failure"]

    async def test_an_unknown_collection_is_refused(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        body = {"name": "c", "domain": "everyday", "collection_id": "00000000-0000-7000-8000-000000000000"}
        assert (await admin.post("/v1/campaigns", json=body)).status_code == 422

    @pytest.mark.parametrize("segments", [[3, 2], [2, 2], [], [0]])
    async def test_segments_must_grow(self, suite: RunningSuite, segments: list[int]):
        admin = await suite.client("annotation", "admin")
        body = {
            "name": "c",
            "domain": "everyday",
            "collection_id": "00000000-0000-7000-8000-000000000000",
            "segments": segments,
        }
        answer = await admin.post("/v1/campaigns", json=body)
        assert answer.status_code == 422
        assert answer.json()["errors"]
