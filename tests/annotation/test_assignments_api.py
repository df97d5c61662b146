import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest

from spotthebot.annotation.domain.assignments import Assignment
from spotthebot.annotation.domain.errors import NothingToClaim
from spotthebot.annotation.use_cases.assignments import claim_package
from spotthebot.kit.database import Database, WriteSession
from tests.factories.clock import MovableClock
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import (
    ANNOTATION,
    conversation,
    created,
    import_conversations,
    open_campaign,
)

CONVERSATIONS = [conversation(f"c{number}", "SECRET-GPT", "SECRET-DR") for number in range(4)]


async def _campaign(suite: RunningSuite, **more: Any) -> dict[str, Any]:
    collection = await import_conversations(suite, CONVERSATIONS)
    return await open_campaign(suite, collection, **{"package_size": 2} | more)


async def _claim(suite: RunningSuite, campaign: dict[str, Any], annotator: str) -> dict[str, Any]:
    frontend = await suite.client("annotation", "annotation")
    return await created(frontend, f"/v1/campaigns/{campaign['id']}/assignments", {"annotator": annotator})


def _movable_clock(suite: RunningSuite) -> MovableClock:
    clock = MovableClock()
    suite.apps["annotation"].state.clock = clock
    return clock


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


async def _annotate(suite: RunningSuite, assignment: dict[str, Any], **change: Any) -> dict[str, Any]:
    frontend = await suite.client("annotation", "annotation")
    answer = {}
    for segment in assignment["segments"]:
        path = f"/v1/assignments/{assignment['id']}/annotations/{segment['id']}"
        put = await frontend.put(path, json=ANNOTATION | change)
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
            await _annotate(suite, assignment),
        ]
        secrets = {"SECRET-GPT", "SECRET-DR", *_ids(suite, "conversations"), *_ids(suite, "corpora")}
        assert len(secrets) == 2 + len(CONVERSATIONS)
        leaves = [leaf for document in read for leaf in _leaves(document)]
        assert len(leaves) > 50
        assert {leaf for leaf in leaves for secret in secrets if secret in leaf} == set()
        # The operator's handle on a campaign's conversations is there, and opens nothing for this key.
        assert set(_ids(suite, "collections")) & set(leaves) == {campaign["collection_id"]}
        conversations = await suite.client("conversations", "annotation")
        for path in ("", "/conversations", "/export", "/texts/stream", "/speakers/stream"):
            answer = await conversations.get(f"/v1/collections/{campaign['collection_id']}{path}")
            assert answer.status_code == 403

    async def test_stores_nothing_of_who_speaks_in_the_database(self, suite: RunningSuite):
        await _campaign(suite)
        with psycopg.connect(suite.database.owner["annotation"]) as connection:
            rows = connection.execute("SELECT c::text FROM annotation.shown_conversations c").fetchall()
        assert len(rows) == 4
        assert not any("SECRET" in row for (row,) in rows)

    async def test_gives_an_annotator_who_asks_again_the_same_package(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        assert (await _claim(suite, campaign, "w"))["id"] == (await _claim(suite, campaign, "w"))["id"]

    async def test_skips_conversations_the_annotator_has_seen(self, suite: RunningSuite):
        campaign = await _campaign(suite, annotations_per_segment=1)
        frontend = await suite.client("annotation", "annotation")
        texts: list[str] = []
        for _ in range(2):  # two blocks of two conversations: one package of each
            assignment = await _claim(suite, campaign, "w")
            texts += [segment["turns"][0]["text"] for segment in assignment["segments"]]
            await _annotate(suite, assignment)
        assert len(set(texts)) == len(texts) == 4
        answer = await frontend.post(f"/v1/campaigns/{campaign['id']}/assignments", json={"annotator": "w"})
        assert (answer.status_code, answer.json()["type"]) == (404, "urn:spotthebot:problem:nothing-to-claim")

    async def test_fills_every_package_when_twelve_annotators_claim_at_once(self, suite: RunningSuite):
        campaign = await _campaign(suite, annotations_per_segment=2)
        frontend = await suite.client("annotation", "annotation")
        path = f"/v1/campaigns/{campaign['id']}/assignments"
        answers = await asyncio.gather(*(frontend.post(path, json={"annotator": f"w{n}"}) for n in range(12)))
        codes = [answer.status_code for answer in answers]
        assert (codes.count(201), codes.count(404)) == (8, 4)  # 4 packages, 2 annotators each
        with psycopg.connect(suite.database.owner["annotation"]) as connection:
            rows = connection.execute("SELECT count(*) FROM annotation.assignments GROUP BY package_id").fetchall()
        assert rows == [(2,)] * 4

    async def test_gives_one_package_to_an_annotator_who_claims_six_times_at_once(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        assignments = await asyncio.gather(*(_claim(suite, campaign, "w") for _ in range(6)))
        assert len({each["id"] for each in assignments}) == 1

    async def test_gives_a_package_that_is_being_reclaimed_to_no_other_annotator(self, suite: RunningSuite):
        campaign = await _campaign(suite, annotations_per_segment=1, segments=[1], package_size=4)
        await _claim(suite, campaign, "slow")
        with psycopg.connect(suite.database.owner["annotation"]) as connection:
            connection.execute("UPDATE annotation.assignments SET state = 'expired', expires_at = now()")
        database = Database(suite.database.app["annotation"], pool_size=2)

        async def claim(session: WriteSession, annotator: str) -> Assignment:
            return await claim_package(session, UUID(campaign["id"]), annotator, now=datetime.now(UTC), ttl_seconds=60)

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

    async def test_gives_an_expired_package_to_another_annotator(self, suite: RunningSuite):
        campaign = await _campaign(suite, annotations_per_segment=1, segments=[1])
        clock = _movable_clock(suite)
        first = await _claim(suite, campaign, "slow")
        clock.advance(minutes=59)
        await _claim(suite, campaign, "other")
        clock.advance(minutes=2)  # of the hour that a claim lasts, the first has none left
        taken = await _claim(suite, campaign, "quick")
        assert [each["id"] for each in taken["segments"]] == [each["id"] for each in first["segments"]]
        frontend = await suite.client("annotation", "annotation")
        path = f"/v1/assignments/{first['id']}/annotations/{first['segments'][0]['id']}"
        assert (await frontend.put(path, json=ANNOTATION)).status_code == 409

    async def test_gives_a_package_that_was_completed_to_nobody_however_much_time_passes(self, suite: RunningSuite):
        campaign = await _campaign(suite, annotations_per_segment=1, segments=[1], package_size=4)
        clock = _movable_clock(suite)
        done = await _claim(suite, campaign, "quick")
        await _annotate(suite, done)
        with psycopg.connect(suite.database.owner["annotation"]) as connection:  # as if another package were missing
            connection.execute("UPDATE annotation.campaigns SET state = 'open'")
        clock.advance(days=2)
        frontend = await suite.client("annotation", "annotation")
        for annotator in ("quick", "late"):
            answer = await frontend.post(f"/v1/campaigns/{campaign['id']}/assignments", json={"annotator": annotator})
            assert (answer.status_code, answer.json()["type"]) == (404, "urn:spotthebot:problem:nothing-to-claim")
        assert (await frontend.get(f"/v1/assignments/{done['id']}")).json()["state"] == "complete"

    async def test_gives_an_expired_package_back_to_its_annotator(self, suite: RunningSuite):
        campaign = await _campaign(suite, annotations_per_segment=1, segments=[1])
        clock = _movable_clock(suite)
        first = await _claim(suite, campaign, "w")
        clock.advance(minutes=61)
        assert (await _claim(suite, campaign, "w"))["id"] == first["id"]


class TestSubmitAnnotation:
    async def test_completes_the_assignment_with_the_last_annotation_and_gives_a_code(self, suite: RunningSuite):
        campaign = await _campaign(suite, annotations_per_segment=1)
        assignment = await _claim(suite, campaign, "w")
        done = await _annotate(suite, assignment)
        assert done["state"] == "complete"
        assert done["annotated"] == done["segments"] == len(assignment["segments"])
        assert done["completion_code"]
        repeated = await _annotate(suite, assignment)
        assert repeated["completion_code"] == done["completion_code"]
        frontend = await suite.client("annotation", "annotation")
        path = f"/v1/assignments/{assignment['id']}/annotations/{assignment['segments'][0]['id']}"
        assert (await frontend.put(path, json=ANNOTATION | {"label_a": "unsure"})).status_code == 409

    async def test_replaces_an_annotation_until_the_assignment_is_complete(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        assignment = await _claim(suite, campaign, "w")
        frontend = await suite.client("annotation", "annotation")
        path = f"/v1/assignments/{assignment['id']}/annotations/{assignment['segments'][0]['id']}"
        for label in ("bot", "unsure"):
            assert (await frontend.put(path, json=ANNOTATION | {"label_a": label})).status_code == 200
        analyst = await suite.client("annotation", "analyst")
        stored = (await analyst.get(f"/v1/campaigns/{campaign['id']}/annotations")).json()["items"]
        assert [each["label_a"] for each in stored] == ["unsure"]

    async def test_refuses_segments_of_other_assignments_and_unknown_labels(self, suite: RunningSuite):
        campaign = await _campaign(suite, annotations_per_segment=1)
        mine, theirs = await _claim(suite, campaign, "w1"), await _claim(suite, campaign, "w2")
        frontend = await suite.client("annotation", "annotation")
        path = f"/v1/assignments/{mine['id']}/annotations"
        foreign = theirs["segments"][0]["id"]
        assert (await frontend.put(f"{path}/{foreign}", json=ANNOTATION)).status_code == 422
        own = mine["segments"][0]["id"]
        assert (await frontend.put(f"{path}/{own}", json=ANNOTATION | {"label_a": "robot"})).status_code == 422

    async def test_completes_the_campaign_with_its_last_assignment(self, suite: RunningSuite):
        campaign = await _campaign(suite, annotations_per_segment=1)
        for number in range(4):
            await _annotate(suite, await _claim(suite, campaign, f"w{number}"))
        admin = await suite.client("annotation", "admin")
        found = (await admin.get(f"/v1/campaigns/{campaign['id']}")).json()
        assert (found["state"], found["annotations"], found["annotations_needed"]) == ("complete", 8, 8)

    async def test_completes_the_campaign_when_its_last_assignments_are_completed_at_once(self, suite: RunningSuite):
        campaign = await _campaign(suite, annotations_per_segment=4, segments=[1], package_size=4)
        assignments = [await _claim(suite, campaign, f"w{number}") for number in range(4)]
        await asyncio.gather(*(_annotate(suite, assignment) for assignment in assignments))
        admin = await suite.client("annotation", "admin")
        assert (await admin.get(f"/v1/campaigns/{campaign['id']}")).json()["state"] == "complete"

    async def test_leaves_the_campaign_open_while_an_annotator_is_missing(self, suite: RunningSuite):
        campaign = await _campaign(suite, annotations_per_segment=2, segments=[1], package_size=4)
        await _annotate(suite, await _claim(suite, campaign, "w"))
        admin = await suite.client("annotation", "admin")
        assert (await admin.get(f"/v1/campaigns/{campaign['id']}")).json()["state"] == "open"
