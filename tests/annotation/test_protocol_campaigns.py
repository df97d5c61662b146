"""A campaign asks by any protocol over segments: its questions, conditions and steps, from the claim on."""

from typing import Any

from tests.factories.annotating import CONVERSATIONS, annotations_of, claim, save, submit
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created, import_conversations, open_campaign

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
