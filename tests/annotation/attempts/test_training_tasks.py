"""A campaign's training: nobody gets a package before it, and no right answer leaves the server before an answer."""

import asyncio
import json
from typing import Any

import psycopg
import pytest

from tests.factories.annotating import ask, claim, refused, rows
from tests.factories.annotator_trainings import (
    RIGHT,
    WRONG,
    preferring,
    respond,
    respond_to_all,
    start,
    store_training,
    training_campaign,
    training_of_pairs,
)
from tests.factories.campaigns import CONVERSATIONS, campaign_of
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import import_conversations


def _problem(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"].removeprefix("urn:spotthebot:problem:")


class TestCampaign:
    async def test_keeps_the_newest_version_of_its_training(self, suite: RunningSuite):
        for version in (1, 3, 2):
            await store_training(suite, version=version)
        campaign = await campaign_of(suite, training={"name": "first_steps"})
        assert campaign["training"] == {"name": "first_steps", "version": 3, "attempts": 1}
        await store_training(suite, version=4)
        assert (await start(suite, campaign, "w")).json()["dialogues"] == 3

    @pytest.mark.parametrize(
        ("training", "problem"),
        [
            ({"name": "nobody"}, "unknown-training"),
            ({"name": "first_steps", "version": 9}, "unknown-training"),
            ({"name": "for_dialogues"}, "training-of-other-protocol"),
        ],
    )
    async def test_is_refused_without_a_training_for_its_protocol(
        self, suite: RunningSuite, training: dict[str, Any], problem: str
    ):
        await store_training(suite)
        gold = {"gold": {"quality": 5}, "explanations": {}}
        if training["name"] == "for_dialogues":
            await _store_for_dialogues(suite, gold)
        collection = await import_conversations(suite, CONVERSATIONS[:1])
        admin = await suite.client("annotation", "admin")
        body = {"name": "c", "domain": "everyday", "collection_id": collection, "training": training}
        assert _problem(await admin.post("/v1/campaigns", json=body)) == (422, problem)


async def _store_for_dialogues(suite: RunningSuite, more: dict[str, Any]) -> None:
    """Store a protocol over dialogues and a training for it."""
    admin = await suite.client("annotation", "admin")
    question = {"id": "quality", "kind": "likert", "text": "?", "scale": {"min": 1, "max": 5}}
    document = {
        "format": 1,
        "name": "rating",
        "version": 1,
        "title": "Rating",
        "unit": {"kind": "dialogue"},
        "steps": [{"id": "s", "title": "S", "questions": [question]}],
    }
    assert (await admin.post("/v1/protocols", json={"protocol": document})).status_code == 201
    dialogue = {"turns": [{"speaker": "A", "text": "hi"}]} | more
    await store_training(suite, name="for_dialogues", protocol="rating", questions=None, dialogues=[dialogue])


class TestClaim:
    async def test_is_refused_until_the_training_is_passed(self, suite: RunningSuite):
        campaign = await training_campaign(suite)
        assert await refused(suite, campaign, "w") == "training-required"
        await start(suite, campaign, "w")
        for position, answer in enumerate((WRONG, WRONG, RIGHT)):
            assert await refused(suite, campaign, "w") == "training-required"
            await respond(suite, campaign, "w", position, answer)
        assert len((await claim(suite, campaign, "w"))["items"]) == 2
        assert await refused(suite, campaign, "another") == "training-required"

    async def test_is_refused_for_good_once_no_attempt_is_left(self, suite: RunningSuite):
        campaign = await training_campaign(suite, attempts=2)
        for attempt in (1, 2):
            assert await refused(suite, campaign, "w") == "training-required"
            task = (await start(suite, campaign, "w")).json()
            assert task["attempt"] == attempt
            assert task["attempts_left"] == 2 - attempt
            assert task["position"] == 0
            assert await respond_to_all(suite, campaign, WRONG, attempt=attempt) == "failed"
        assert await refused(suite, campaign, "w") == "training-failed"
        again = (await start(suite, campaign, "w")).json()
        assert again["state"] == "failed"
        assert again["attempt"] == 2
        assert again["position"] is None
        assert again["turns"] == []

    async def test_needs_no_training_where_the_campaign_has_none(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        assert _problem(await start(suite, campaign, "w")) == (409, "no-training")
        assert _problem(await respond(suite, campaign, "w", 0)) == (409, "no-training")
        assert (await ask(suite, campaign, "w")).status_code == 201


class TestAnswerTraining:
    async def test_gives_feedback_for_each_side(self, suite: RunningSuite):
        campaign = await training_campaign(suite)
        await start(suite, campaign, "w")
        feedback = (await respond(suite, campaign, "w", 0, RIGHT | {"entity": {"A": "human", "B": "unsure"}})).json()
        assert (feedback["mistakes"], feedback["state"]) == (1, "in_progress")
        right, wrong = feedback["targets"]
        assert (right["target"], right["is_right"]) == ("A", True)
        assert wrong == {
            "target": "B",
            "given": {"entity": "unsure"},
            "right": [{"entity": "bot"}],
            "is_right": False,
            "explanation": "training 0 repeats itself.",
        }

    async def test_shows_no_right_answer_of_a_dialogue_that_is_not_answered(self, suite: RunningSuite):
        campaign = await training_campaign(suite)
        first_task = await start(suite, campaign, "w")
        first = await respond(suite, campaign, "w", 0)
        again = await start(suite, campaign, "w")
        frontend = await suite.client("annotation", "annotation")
        seen = [first_task, again, await frontend.get(f"/v1/campaigns/{campaign['id']}")]
        assert all("repeats itself" not in answer.text and '"accepted"' not in answer.text for answer in seen)
        assert {name for name in ("training 0", "training 1", "training 2") if name in first.text} == {"training 0"}
        assert "training 1 says" in again.text
        assert "training 2 says" not in again.text

    async def test_takes_the_same_answer_again_and_no_other(self, suite: RunningSuite):
        campaign = await training_campaign(suite)
        await start(suite, campaign, "w")
        feedback = [await respond(suite, campaign, "w", 0, WRONG) for _ in range(3)]
        assert len({answer.text for answer in feedback}) == 1
        assert _problem(await respond(suite, campaign, "w", 0, RIGHT)) == (409, "training-answer-final")
        assert _problem(await respond(suite, campaign, "w", 2)) == (409, "training-dialogue-not-shown")
        assert _problem(await respond(suite, campaign, "w", 3)) == (422, "no-such-training-dialogue")
        assert _problem(await respond(suite, campaign, "w", 0, attempt=2)) == (409, "training-not-started")
        assert _problem(await respond(suite, campaign, "nobody", 0)) == (409, "training-not-started")
        for position in (1, 2):
            await respond(suite, campaign, "w", position)
        assert (await respond(suite, campaign, "w", 0, WRONG)).text == feedback[0].text

    async def test_keeps_one_of_two_answers_that_come_at_once(self, suite: RunningSuite):
        campaign = await training_campaign(suite)
        await start(suite, campaign, "w")
        for position in range(3):
            answers = (RIGHT, WRONG, RIGHT, WRONG, RIGHT, WRONG)
            given = await asyncio.gather(*(respond(suite, campaign, "w", position, each) for each in answers))
            kept = {json.dumps(each.json()["targets"]) for each in given if each.status_code == 200}
            assert len(kept) == 1
            assert sum(each.status_code == 200 for each in given) == 3
            assert {_problem(each) for each in given if each.status_code != 200} == {(409, "training-answer-final")}
        assert rows(suite, "SELECT count(*) FROM annotation.training_answers") == [(3,)]
        ended = rows(suite, "SELECT count(*) FROM annotation.audit_log WHERE action LIKE 'training.%'")
        assert ended == [(1,)]

    async def test_begins_one_attempt_where_two_requests_come_at_once(self, suite: RunningSuite):
        campaign = await training_campaign(suite, attempts=5)
        started = await asyncio.gather(*(start(suite, campaign, "w") for _ in range(6)))
        assert {(answer.status_code, answer.json()["attempt"]) for answer in started} == {(200, 1)}

    @pytest.mark.parametrize(
        ("answer", "pointer"),
        [
            ({"entity": {"A": "human", "B": "bot"}}, "/answer/fluency"),
            (RIGHT | {"entity": {"A": "cat", "B": "bot"}}, "/answer/entity/A"),
            (RIGHT | {"humour": "<script>\u2028"}, "/answer/humour"),
        ],
    )
    async def test_refuses_what_is_no_whole_answer_and_says_nothing_about_it(
        self, suite: RunningSuite, answer: dict[str, Any], pointer: str
    ):
        campaign = await training_campaign(suite)
        await start(suite, campaign, "w")
        given = await respond(suite, campaign, "w", 0, answer)
        assert given.status_code == 422
        assert pointer in {fault["pointer"] for fault in given.json()["errors"]}
        assert "repeats itself" not in given.text
        assert (await respond(suite, campaign, "w", 0, RIGHT)).status_code == 200

    async def test_waits_while_the_campaign_is_paused_or_the_annotator_blocked(self, suite: RunningSuite):
        campaign = await training_campaign(suite)
        await start(suite, campaign, "w")
        first = await respond(suite, campaign, "w", 0)
        admin = await suite.client("annotation", "admin")
        path = f"/v1/campaigns/{campaign['id']}"
        await admin.post(f"{path}/pause")
        assert _problem(await respond(suite, campaign, "w", 1)) == (409, "closed")
        assert _problem(await start(suite, campaign, "w")) == (409, "closed")
        assert (await respond(suite, campaign, "w", 0)).text == first.text
        await admin.post(f"{path}/open")
        (annotator,) = (await admin.get(f"{path}/annotators")).json()["items"]
        await admin.post(f"{path}/annotators/{annotator['id']}/block", json={"reason": "r"})
        assert _problem(await respond(suite, campaign, "w", 1)) == (409, "blocked")
        assert _problem(await start(suite, campaign, "w")) == (409, "blocked")

    async def test_is_another_frontends_when_that_begins_it(self, suite: RunningSuite):
        campaign = await training_campaign(suite)
        await start(suite, campaign, "w")
        other = await suite.client("annotation", "annotation", team="others")
        path = f"/v1/campaigns/{campaign['id']}/training/dialogues/0"
        assert _problem(await other.put(path, json={"annotator": "w", "attempt": 1, "answer": RIGHT})) == (
            409,
            "training-not-started",
        )
        for role in ("analyst", "team", "admin"):
            client = await suite.client("annotation", role)
            assert (await client.put(path, json={"annotator": "w", "attempt": 1, "answer": RIGHT})).status_code == 403


class TestPairs:
    """The training of a campaign that compares dialogues in pairs."""

    async def test_are_shown_side_by_side_and_explained_after_the_answer(self, suite: RunningSuite):
        campaign = await training_campaign(suite, **training_of_pairs())
        assert await refused(suite, campaign, "w") == "training-required"
        first = await start(suite, campaign, "w")
        task = first.json()
        assert {turn["text"][:10] for turn in task["turns"]} == {"training 0"}
        assert {turn["text"].partition(" says")[0] for turn in task["right_turns"]} == {"training 0 on the right"}
        assert "repeats itself" not in first.text
        sides = await respond(suite, campaign, "w", 0, {"entity": {"A": "human", "B": "bot"}})
        assert (sides.status_code, "repeats itself" in sides.text) == (422, False)
        feedback = (await respond(suite, campaign, "w", 0, preferring("B"))).json()
        (found,) = feedback["targets"]
        assert (feedback["mistakes"], found["explanation"]) == (1, "training 0 repeats itself on the right.")
        assert (found["given"], found["right"]) == ({"relevant": "B"}, [{"relevant": "A"}])
        await respond(suite, campaign, "w", 1, preferring("B"))
        last = await respond(suite, campaign, "w", 2, preferring("B") | {"relevant": "A"})
        assert (last.json()["mistakes"], last.json()["state"]) == (0, "passed")
        assert (await start(suite, campaign, "w")).json()["right_turns"] is None
        assert (await claim(suite, campaign, "w"))["items"][0]["right_turns"]


class TestRecord:
    async def test_holds_every_attempt_and_answer_and_the_audit_log_its_end(self, suite: RunningSuite):
        campaign = await training_campaign(suite, attempts=2)
        for attempt, last in ((1, WRONG), (2, RIGHT)):
            await start(suite, campaign, "w")
            await respond_to_all(suite, campaign, last, attempt=attempt)
        admin = await suite.client("annotation", "admin")
        path = f"/v1/campaigns/{campaign['id']}"
        (annotator,) = (await admin.get(f"{path}/annotators")).json()["items"]
        record = (await admin.get(f"{path}/annotators/{annotator['id']}/training")).json()["attempts"]
        assert [(each["attempt"], each["state"]) for each in record] == [(1, "failed"), (2, "passed")]
        assert [[each["mistakes"] for each in attempt["answers"]] for attempt in record] == [[2, 2, 2], [2, 2, 0]]
        assert record[1]["answers"][2]["answer"] == RIGHT
        audit = (await admin.get(f"{path}/audit")).json()["items"]
        assert [(each["action"], each["annotator_id"], each["details"]) for each in audit] == [
            (
                f"training.{state}",
                annotator["id"],
                {"training": "first_steps, version 1", "attempt": attempt, "mistakes": mistakes},
            )
            for state, attempt, mistakes in (("failed", "1", "2"), ("passed", "2", "0"))
        ]
        frontend = await suite.client("annotation", "annotation")
        assert (await frontend.get(f"{path}/annotators/{annotator['id']}/training")).status_code == 403

    async def test_is_only_ever_added_to(self, suite: RunningSuite):
        campaign = await training_campaign(suite)
        await start(suite, campaign, "w")
        await respond(suite, campaign, "w", 0)
        for change in (
            "UPDATE annotation.training_answers SET mistakes = mistakes + 1",
            "DELETE FROM annotation.training_answers",
        ):
            with (
                psycopg.connect(suite.database.app["annotation"].replace("+psycopg", "")) as connection,
                pytest.raises(psycopg.errors.RaiseException, match="only ever added"),
            ):
                connection.execute(change.encode())
