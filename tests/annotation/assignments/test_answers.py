"""Answers: drafts, steps, submission, times."""

import asyncio
from typing import Any

import pytest

from tests.factories.annotating import (
    DECISION,
    FEATURES,
    WHOLE,
    annotations_of,
    answer_items,
    claim,
    movable_clock,
    rows,
    save,
    state_of,
    submit,
    work_through,
)
from tests.factories.campaigns import campaign_of
from tests.factories.running_suite import RunningSuite


def _problem(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"].removeprefix("urn:spotthebot:problem:")


def _pointers(answer: Any) -> list[str]:
    return [each["pointer"] for each in answer.json()["errors"]]


class TestSteps:
    async def test_are_answered_in_their_order(self, suite: RunningSuite):
        assignment = await claim(suite, await campaign_of(suite), "w")
        assert _problem(await save(suite, assignment, 0, WHOLE)) == (409, "step-not-shown")
        unanswered = await save(suite, assignment, 0, {"entity": {"A": "human"}}, show_step=2)
        assert (_problem(unanswered), _pointers(unanswered)) == ((409, "step-unanswered"), ["/answer/entity/B"])
        shown = (await save(suite, assignment, 0, DECISION, show_step=2)).json()
        assert (shown["step"], shown["version"], len(shown["missing"])) == (2, 1, 3)
        assert (await save(suite, assignment, 0, WHOLE)).json()["missing"] == []

    async def test_are_locked_once_the_next_one_was_shown(self, suite: RunningSuite):
        assignment = await claim(suite, await campaign_of(suite), "w")
        assert (await save(suite, assignment, 0, DECISION)).json()["step"] == 1
        changed = {"entity": {"A": "unsure", "B": "bot"}}
        assert (await save(suite, assignment, 0, changed, show_step=2)).json()["version"] == 2
        for late in (DECISION, WHOLE, FEATURES, {}):
            assert _problem(await save(suite, assignment, 0, late)) == (409, "step-locked")
        assert (await save(suite, assignment, 0, changed | FEATURES)).status_code == 200

    async def test_are_shown_once_however_often_a_request_is_sent(self, suite: RunningSuite):
        assignment = await claim(suite, await campaign_of(suite), "w")
        saved = [(await save(suite, assignment, 0, DECISION, show_step=2)).json() for _ in range(3)]
        assert {(each["step"], each["version"]) for each in saved} == {(2, 1)}

    @pytest.mark.parametrize("step", [3, 10])
    async def test_beyond_the_last_one_are_not_shown(self, suite: RunningSuite, step: int):
        assignment = await claim(suite, await campaign_of(suite), "w")
        assert _problem(await save(suite, assignment, 0, DECISION, show_step=step)) == (409, "step-not-shown")


class TestSave:
    @pytest.mark.parametrize(
        ("answer", "pointer"),
        [
            ({"entity": {"A": "robot"}}, "/answer/entity/A"),
            ({"entity": {"C": "human"}}, "/answer/entity/C"),
            ({"entity": "human"}, "/answer/entity"),
            ({"entity": {"A": None}}, "/answer/entity/A"),
            ({"entity": {"A": ["human"]}}, "/answer/entity/A"),
            ({"entitty": {"A": "human"}}, "/answer/entitty"),
            ({"entity": {"A": "<script>alert(1)</script>"}}, "/answer/entity/A"),
        ],
    )
    async def test_names_the_field_that_does_not_fit_and_keeps_nothing(
        self, suite: RunningSuite, answer: dict[str, Any], pointer: str
    ):
        assignment = await claim(suite, await campaign_of(suite), "w")
        refused = await save(suite, assignment, 0, answer)
        assert (_problem(refused), _pointers(refused)) == ((422, "invalid-answer"), [pointer])
        assert rows(suite, "SELECT count(*) FROM annotation.answers") == [(0,)]

    async def test_refuses_an_item_that_the_package_does_not_have(self, suite: RunningSuite):
        assignment = await claim(suite, await campaign_of(suite), "w")
        refused = await save(suite, assignment, 2, DECISION)
        assert _problem(refused) == (422, "no-such-item")
        assert "items 0 to 1" in refused.json()["detail"]
        assert (await save(suite, assignment, -1, DECISION)).status_code == 422

    async def test_refuses_ten_megabytes(self, suite: RunningSuite):
        assignment = await claim(suite, await campaign_of(suite), "w")
        assert (await save(suite, assignment, 0, {"entity": {"A": "x" * 10_000_000}})).status_code == 413

    async def test_keeps_every_revision(self, suite: RunningSuite):
        assignment = await claim(suite, await campaign_of(suite), "w")
        for label in ("human", "bot", "bot", "unsure"):
            assert (await save(suite, assignment, 0, {"entity": {"A": label, "B": "bot"}})).status_code == 200
        kept = rows(suite, "SELECT version, answer->'entity'->>'A' FROM annotation.answer_revisions ORDER BY version")
        now = rows(suite, "SELECT version, answer->'entity'->>'A' FROM annotation.answers")
        assert (kept, now) == ([(1, "human"), (2, "bot")], [(3, "unsure")])

    async def test_loses_none_of_six_that_come_at_once(self, suite: RunningSuite):
        assignment = await claim(suite, await campaign_of(suite), "w")
        sides = [(first, second) for first in ("human", "bot") for second in ("human", "bot", "unsure")]
        saved = await asyncio.gather(
            *(save(suite, assignment, 0, {"entity": {"A": first, "B": second}}) for first, second in sides)
        )
        assert sorted(each.json()["version"] for each in saved) == [1, 2, 3, 4, 5, 6]
        kept = "SELECT answer->'entity'->>'A', answer->'entity'->>'B' FROM annotation."
        assert sorted(rows(suite, f"{kept}answer_revisions") + rows(suite, f"{kept}answers")) == sorted(sides)

    async def test_is_refused_where_another_came_first_if_it_names_the_version_that_it_replaces(
        self, suite: RunningSuite
    ):
        assignment = await claim(suite, await campaign_of(suite), "w")
        assert [item["version"] for item in assignment["items"]] == [0, 0]
        early, late = {"entity": {"A": "human"}}, {"entity": {"A": "bot"}}
        assert (await save(suite, assignment, 0, late, version=0)).json()["version"] == 1
        refused = await save(suite, assignment, 0, early, version=0)
        assert _problem(refused) == (409, "version-outdated")
        assert "version 1, not 0" in refused.json()["detail"]
        again = await save(suite, assignment, 0, late, version=0)  # the same request again, whose answer was lost
        assert (again.status_code, again.json()["version"]) == (200, 1)
        frontend = await suite.client("annotation", "annotation")
        (item, _) = (await frontend.get(f"/v1/assignments/{assignment['id']}")).json()["items"]
        assert (item["version"], item["answer"]) == (1, late)
        assert (await save(suite, assignment, 0, early, version=item["version"])).json()["version"] == 2
        assert (await save(suite, assignment, 0, late)).json()["version"] == 3
        assert (await save(suite, assignment, 0, late, version=-1)).status_code == 422

    async def test_is_refused_after_the_lease_and_after_the_submission(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        clock = movable_clock(suite)
        late = await claim(suite, campaign, "late")
        done = await claim(suite, campaign, "done")
        await work_through(suite, done)
        assert _problem(await save(suite, done, 0, WHOLE)) == (409, "assignment-submitted")
        clock.advance(minutes=61)
        assert _problem(await save(suite, late, 0, DECISION)) == (409, "assignment-expired")
        assert _problem(await submit(suite, late)) == (409, "assignment-expired")

    async def test_goes_on_after_the_campaign_was_closed(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        assignment = await claim(suite, campaign, "w")
        admin = await suite.client("annotation", "admin")
        assert (await admin.post(f"/v1/campaigns/{campaign['id']}/close")).json()["state"] == "closed"
        await work_through(suite, assignment)
        assert len(await annotations_of(suite, campaign)) == 2


class TestSubmit:
    async def test_gives_one_code_however_often_and_at_once_it_is_asked(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        assignment = await claim(suite, campaign, "w")
        await answer_items(suite, assignment)
        answers = await asyncio.gather(*(submit(suite, assignment) for _ in range(5)))
        assert {answer.status_code for answer in answers} == {200}
        assert len({answer.json()["completion_code"] for answer in answers}) == 1
        frontend = await suite.client("annotation", "annotation")
        read = (await frontend.get(f"/v1/assignments/{assignment['id']}")).json()
        assert (read["state"], read["completion_code"]) == ("submitted", answers[0].json()["completion_code"])
        assert (await state_of(suite, campaign))["submitted"] == 1
        assert len(await annotations_of(suite, campaign)) == 2

    async def test_names_every_item_that_is_not_answered(self, suite: RunningSuite):
        assignment = await claim(suite, await campaign_of(suite), "w")
        await save(suite, assignment, 1, DECISION, show_step=2)
        refused = await submit(suite, assignment)
        assert _problem(refused) == (409, "items-unanswered")
        assert _pointers(refused) == [
            *(f"/items/0/{question}" for question in ("entity/A", "entity/B", *FEATURES)),
            *(f"/items/1/{question}" for question in FEATURES),
        ]

    async def test_stores_nothing_until_the_package_is_whole(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        assignment = await claim(suite, campaign, "w")
        await answer_items(suite, assignment)
        assert await annotations_of(suite, campaign) == []
        await submit(suite, assignment)
        stored = await annotations_of(suite, campaign)
        assert [(each["annotator"], each["answer"]) for each in stored] == [("w", WHOLE)] * 2

    async def test_completes_the_campaign_with_the_last_package(self, suite: RunningSuite):
        campaign = await campaign_of(suite, annotations_per_segment=1)
        for number in range(4):
            assert (await state_of(suite, campaign))["state"] == "open"
            await work_through(suite, await claim(suite, campaign, f"w{number}"))
        found = await state_of(suite, campaign)
        assert found["state"] == "complete"
        assert found["submitted"] == 4
        assert found["annotations"] == 8
        assert found["annotations_needed"] == 8

    async def test_completes_the_campaign_when_its_last_packages_are_submitted_at_once(self, suite: RunningSuite):
        campaign = await campaign_of(suite, annotations_per_segment=4, segments=[1], package_size=4)
        assignments = [await claim(suite, campaign, f"w{number}") for number in range(4)]
        await asyncio.gather(*(work_through(suite, assignment) for assignment in assignments))
        found = await state_of(suite, campaign)
        assert (found["state"], found["submitted"], found["annotations"]) == ("complete", 4, 16)


class TestTimes:
    async def test_are_the_servers_whatever_the_frontend_reports(self, suite: RunningSuite):
        campaign = await campaign_of(suite, 2, segments=[1])
        clock = movable_clock(suite)
        assignment = await claim(suite, campaign, "w")
        for position, seconds in ((0, 20), (1, 30)):
            clock.advance(seconds=seconds)
            await save(suite, assignment, position, DECISION, show_step=2)
            clock.advance(seconds=5)
            await save(suite, assignment, position, WHOLE, elapsed_ms=1)
        await submit(suite, assignment)
        stored = await annotations_of(suite, campaign)
        # 20 s to the first decision and 5 s to the features; the second was started when the first was done.
        assert sorted(each["elapsed_ms"] // 1000 for each in stored) == [25, 35]
        assert [each["reported_ms"] for each in stored] == [1, 1]

    async def test_are_those_of_the_signs_of_life_where_there_are_some(self, suite: RunningSuite):
        campaign = await campaign_of(suite, 2, segments=[1])
        clock = movable_clock(suite)
        assignment = await claim(suite, campaign, "w")
        frontend = await suite.client("annotation", "annotation")
        # Twenty seconds with the first item, five minutes of silence, which are no work, then seven with the other.
        for seconds, position in ((0, 0), (10, 0), (10, 1), (300, 1), (7, None)):
            clock.advance(seconds=seconds)
            path = f"/v1/assignments/{assignment['id']}/heartbeat"
            assert (await frontend.post(path, json={"position": position})).status_code == 200
        refused = await frontend.post(f"/v1/assignments/{assignment['id']}/heartbeat", json={"position": 2})
        assert _problem(refused) == (422, "no-such-item")
        await work_through(suite, assignment)
        stored = await annotations_of(suite, campaign)
        assert [each["elapsed_ms"] // 1000 for each in stored] == [20, 7]
