"""Attempts at a training that administrators grant to annotators who failed the last one."""

import asyncio
from typing import Any

import httpx
import psycopg

from tests.factories.annotating import appeal, claim, refused, rows
from tests.factories.annotator_trainings import RIGHT, WRONG, respond_to_all, start, training_campaign
from tests.factories.campaigns import campaign_of
from tests.factories.databases import Databases
from tests.factories.gates import locks_awaited
from tests.factories.running_suite import RunningSuite


def _problem(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"].removeprefix("urn:spotthebot:problem:")


async def _failed(suite: RunningSuite, *, attempts: int = 1) -> tuple[dict[str, Any], str]:
    """Open a campaign whose one annotator failed every attempt; return it, and the path of the annotator's training."""
    campaign = await training_campaign(suite, attempts=attempts)
    for attempt in range(1, attempts + 1):
        await start(suite, campaign, "w")
        await respond_to_all(suite, campaign, WRONG, attempt=attempt)
    admin = await suite.client("annotation", "admin")
    (annotator,) = (await admin.get(f"/v1/campaigns/{campaign['id']}/annotators")).json()["items"]
    return campaign, f"/v1/campaigns/{campaign['id']}/annotators/{annotator['id']}/training"


async def _grant(
    suite: RunningSuite, path: str, attempt: object, *, role: str = "admin", **body: Any
) -> httpx.Response:
    """Grant an attempt, or try to."""
    client = await suite.client("annotation", role)
    return await client.put(f"{path}/attempts/{attempt}", json={"reason": "They read the wrong page."} | body)


class TestGrantedAttempt:
    async def test_can_be_passed_after_the_last_one_failed(self, suite: RunningSuite):
        campaign, path = await _failed(suite, attempts=2)
        admin = await suite.client("annotation", "admin")
        assert await refused(suite, campaign, "w") == "training-failed"
        assert ((await admin.get(path)).json()["granted"], (await admin.get(path)).json()["attempts_left"]) == (0, 0)
        granted = (await _grant(suite, path, 3)).json()
        assert len(granted["attempts"]) == 2
        assert granted["granted"] == 1
        assert granted["attempts_left"] == 1
        assert await refused(suite, campaign, "w") == "training-required"
        task = (await start(suite, campaign, "w")).json()
        assert (task["attempt"], task["attempts_left"], task["state"]) == (3, 0, "in_progress")
        assert await respond_to_all(suite, campaign, RIGHT, attempt=3) == "passed"
        assert len((await claim(suite, campaign, "w"))["items"]) == 2
        assert (await admin.get(path)).json()["attempts_left"] == 0

    async def test_is_one_and_in_the_audit_log_once_however_often_it_is_asked_for(self, suite: RunningSuite):
        campaign, path = await _failed(suite)
        for _ in range(2):
            answers = await asyncio.gather(*(_grant(suite, path, 2) for _ in range(6)))
            assert {(each.status_code, each.json()["granted"]) for each in answers} == {(200, 1)}
        await start(suite, campaign, "w")
        await respond_to_all(suite, campaign, WRONG, attempt=2)
        late = await _grant(suite, path, 2)  # sent again after the attempt was used
        assert (late.json()["granted"], late.json()["attempts_left"]) == (1, 0)
        assert await refused(suite, campaign, "w") == "training-failed"
        assert (await _grant(suite, path, 3, reason="Once more.")).json()["granted"] == 2
        logged = "SELECT details FROM annotation.audit_log WHERE action = 'training.attempt_granted' ORDER BY id"
        assert rows(suite, logged) == [
            ({"attempt": "2", "reason": "They read the wrong page."},),
            ({"attempt": "3", "reason": "Once more."},),
        ]

    async def test_is_in_the_audit_log_once_where_two_requests_found_it_not_granted(
        self, suite: RunningSuite, databases: Databases
    ):
        _, path = await _failed(suite)
        async with await psycopg.AsyncConnection.connect(suite.database.owner["annotation"]) as connection:
            await connection.execute("SELECT id FROM annotation.annotators FOR UPDATE")
            both = [asyncio.create_task(_grant(suite, path, 2)) for _ in range(2)]
            await locks_awaited(databases.admin_url(suite.database), 2)
        assert [(await each).json()["granted"] for each in both] == [1, 1]
        assert rows(suite, "SELECT count(*) FROM annotation.audit_log WHERE action LIKE '%granted'") == [(1,)]

    async def test_is_refused_unless_it_follows_a_failed_last_one(self, suite: RunningSuite):
        campaign, path = await _failed(suite)
        assert _problem(await _grant(suite, path, 3)) == (409, "attempt-not-failed")
        assert (await _grant(suite, path, 2)).status_code == 200
        assert _problem(await _grant(suite, path, 3)) == (409, "attempt-not-failed")
        await start(suite, campaign, "w")
        assert _problem(await _grant(suite, path, 3)) == (409, "attempt-not-failed")
        await respond_to_all(suite, campaign, RIGHT, attempt=2)
        assert _problem(await _grant(suite, path, 3)) == (409, "attempt-not-failed")
        for attempt in (0, 21, -1, "x", 10**30):
            assert (await _grant(suite, path, attempt)).status_code == 422
        for reason in ("", " ", "a\0b", "x" * 2001, "x" * 10_000_000, None, ["x"]):
            assert (await _grant(suite, path, 2, reason=reason)).status_code in {413, 422}

        admin = await suite.client("annotation", "admin")
        surrogate = await admin.put(f"{path}/attempts/2", content=b'{"reason": "\\ud800"}')
        assert surrogate.status_code == 422

    async def test_is_for_administrators_and_annotators_of_the_campaign(self, suite: RunningSuite):
        _, path = await _failed(suite)
        other = await campaign_of(suite, name="other")
        for role in ("analyst", "annotation", "team", "service"):
            assert (await _grant(suite, path, 2, role=role)).status_code == 403
        foreign = path.replace(path.split("/")[3], other["id"])
        assert _problem(await _grant(suite, foreign, 2)) == (409, "no-training")
        nobody = path.replace(path.split("/")[5], "0" * 8 + "-0000-4000-8000-" + "0" * 12)
        assert (await _grant(suite, nobody, 2)).status_code == 404

    async def test_is_refused_for_an_annotator_whom_nobody_knows(self, suite: RunningSuite):
        _, path = await _failed(suite)
        admin = await suite.client("annotation", "admin")
        assert (await admin.post(path.replace("/training", "/erase"))).status_code == 200
        assert _problem(await _grant(suite, path, 2)) == (409, "annotator-erased")

    async def test_is_granted_in_every_state_of_the_campaign_and_waits_for_an_open_one(self, suite: RunningSuite):
        campaign, path = await _failed(suite)
        admin = await suite.client("annotation", "admin")
        await admin.post(f"/v1/campaigns/{campaign['id']}/pause")
        assert (await _grant(suite, path, 2)).json()["attempts_left"] == 1
        assert _problem(await start(suite, campaign, "w")) == (409, "closed")
        await admin.post(f"/v1/campaigns/{campaign['id']}/close")
        assert (await _grant(suite, path, 2)).json()["attempts_left"] == 1

    async def test_answers_an_appeal_and_the_next_failure_takes_another(self, suite: RunningSuite):
        campaign, path = await _failed(suite)
        for _ in range(2):
            assert (await appeal(suite, campaign, "w", "It was late.")).status_code == 200
        assert _problem(await appeal(suite, campaign, "w", "Please!")) == (409, "appeal-lodged")
        await _grant(suite, path, 2, reason="<b>\u2028</b>")
        assert _problem(await appeal(suite, campaign, "w", "It was late.")) == (409, "nothing-to-appeal")
        await start(suite, campaign, "w")
        await respond_to_all(suite, campaign, WRONG, attempt=2)
        assert (await appeal(suite, campaign, "w", "It was early.")).json()["note"] == "It was early."
        assert _problem(await appeal(suite, campaign, "nobody")) == (404, "no-such-annotator")
