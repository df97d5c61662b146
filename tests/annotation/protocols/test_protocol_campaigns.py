"""A campaign asks by any protocol whose unit is shown whole: its questions, conditions and steps."""

from typing import Any

import pytest

from tests.factories.annotating import annotations_of, claim, save, submit
from tests.factories.campaigns import CONVERSATIONS, open_campaign
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, created, import_conversations

PROTOCOL = {
    "format": 1,
    "name": "engagement",
    "version": 1,
    "title": "Engagement",
    "unit": {"kind": "segment"},
    "steps": [
        {
            "id": "rate",
            "title": "Rate",
            "questions": [
                {
                    "id": "engaging",
                    "kind": "likert",
                    "per": "side",
                    "text": "How engaging is this speaker?",
                    "scale": {"min": 1, "max": 5},
                },
                {
                    "id": "why",
                    "kind": "text",
                    "per": "side",
                    "text": "Why so little?",
                    "max_length": 100,
                    "when": {"question": "engaging", "any_of": [1, 2]},
                },
            ],
        }
    ],
}
ANSWER = {"engaging": {"A": 5, "B": 2}, "why": {"B": "It echoes."}}


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return "conversations", "annotation", "analytics"


async def _campaign(suite: RunningSuite, *versions: int, **more: Any) -> dict[str, Any]:
    admin = await suite.client("annotation", "admin")
    for version in versions:
        await created(admin, "/v1/protocols", {"protocol": PROTOCOL | {"version": version}})
    collection = await import_conversations(suite, CONVERSATIONS[:1])
    return await open_campaign(suite, collection, **{"segments": [1], "protocol": "engagement"} | more)


class TestCampaignOfAnotherProtocol:
    async def test_asks_its_questions_and_keeps_the_answers(self, suite: RunningSuite):
        campaign = await _campaign(suite, 1)
        assignment = await claim(suite, campaign, "w")
        assert assignment["protocol"]["title"] == "Engagement"
        unasked = await save(suite, assignment, 0, ANSWER | {"why": {"A": "?"}})
        assert (unasked.status_code, [each["pointer"] for each in unasked.json()["errors"]]) == (422, ["/answer/why/A"])
        first = (await save(suite, assignment, 0, {"engaging": ANSWER["engaging"]})).json()
        assert first["missing"] == ["/why/B"]
        assert (await submit(suite, assignment)).status_code == 409
        assert (await save(suite, assignment, 0, ANSWER)).json()["missing"] == []
        assert (await submit(suite, assignment)).status_code == 200
        assert [each["answer"] for each in await annotations_of(suite, campaign)] == [ANSWER]

    async def test_takes_the_newest_version_unless_it_names_one(self, suite: RunningSuite):
        newest = await _campaign(suite, 1, 3)
        named = await _campaign(suite, protocol_version=1)
        assert (newest["protocol_version"], named["protocol_version"]) == (3, 1)

    async def test_has_no_ranking_and_says_why(self, suite: RunningSuite):
        campaign = await _campaign(suite, 1)
        analyst = await suite.client("analytics", "analyst")
        answer = await analyst.get(f"/v1/campaigns/{campaign['id']}/ranking")
        assert (answer.status_code, answer.json()["type"]) == (409, "urn:spotthebot:problem:other-protocol")
        assert "'engagement'" in answer.json()["detail"]


class TestDialogues:
    async def test_are_shown_to_their_last_turn_whatever_their_length(self, suite: RunningSuite):
        collection = await import_conversations(
            suite, [conversation("short", "X", "Y", exchanges=1), conversation("long", "X", "Y", exchanges=4)]
        )
        campaign = await open_campaign(suite, collection, protocol="dialogue_likert")
        assignment = await claim(suite, campaign, "w")
        assert sorted(len(item["turns"]) for item in assignment["items"]) == [2, 8]
        assert (campaign["items"], campaign["too_short"]) == (2, 0)
        questions = [each["id"] for each in assignment["protocol"]["steps"][0]["questions"]]
        answer = {each: {"A": 3, "B": 4} for each in questions}
        for item in assignment["items"]:
            saved = await save(suite, assignment, item["position"], answer)
            assert (saved.status_code, saved.json()["missing"]) == (200, [])
        assert (await submit(suite, assignment)).status_code == 200
        assert [each["answer"] for each in await annotations_of(suite, campaign)] == [answer] * 2


class TestTurns:
    async def test_are_asked_about_one_by_one(self, suite: RunningSuite):
        campaign = await open_campaign(
            suite, await import_conversations(suite, CONVERSATIONS[:1]), protocol="turn_likert"
        )
        assignment = await claim(suite, campaign, "w")
        (item,) = assignment["items"]
        speaker = assignment["protocol"]["unit"]["speaker"]
        turns = [str(number) for number, turn in enumerate(item["turns"]) if speaker in {turn["speaker"], "both"}]
        questions = [each["id"] for each in assignment["protocol"]["steps"][0]["questions"]]
        partly = {each: dict.fromkeys(turns[:-1], 3) for each in questions}
        assert (await save(suite, assignment, 0, partly)).json()["missing"] == [
            f"/{each}/{turns[-1]}" for each in questions
        ]
        foreign = await save(suite, assignment, 0, {questions[0]: {str(len(item["turns"])): 3}})
        assert foreign.status_code == 422
        whole = {each: dict.fromkeys(turns, 3) for each in questions}
        assert (await save(suite, assignment, 0, whole)).json()["missing"] == []
        assert (await submit(suite, assignment)).status_code == 200
