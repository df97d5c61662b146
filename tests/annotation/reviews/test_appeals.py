"""What annotators say who are blocked, or failed the training for good."""

from typing import Any
from uuid import UUID, uuid4

import httpx

from tests.factories.annotating import appeal, claim
from tests.factories.campaigns import campaign_of
from tests.factories.running_suite import RunningSuite


async def decide(suite: RunningSuite, campaign: dict[str, Any], decision: str, reason: str) -> dict[str, Any]:
    """Block or unblock the campaign's one annotator."""
    admin = await suite.client("annotation", "admin")
    (annotator,) = (await admin.get(f"/v1/campaigns/{campaign['id']}/annotators")).json()["items"]
    path = f"/v1/campaigns/{campaign['id']}/annotators/{annotator['id']}/{decision}"
    return (await admin.post(path, json={"reason": reason})).json()


def problem(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"].split(":")[-1]


class TestAppeals:
    async def test_are_seen_by_administrators_with_the_annotator_and_in_the_audit_log(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        await claim(suite, campaign, "w")
        assert problem(await appeal(suite, campaign, "w")) == (409, "nothing-to-appeal")
        await decide(suite, campaign, "block", "too fast")
        answers = [await appeal(suite, campaign, "w", " <b>I read</b> \u2028 them all. ") for _ in range(2)]
        assert [answer.status_code for answer in answers] == [200, 200]
        assert answers[0].text == answers[1].text
        assert answers[0].json()["note"] == "<b>I read</b> \u2028 them all."
        assert problem(await appeal(suite, campaign, "w", "Please!")) == (409, "appeal-lodged")
        admin = await suite.client("annotation", "admin")
        (annotator,) = (await admin.get(f"/v1/campaigns/{campaign['id']}/annotators")).json()["items"]
        assert annotator["appeal"] == "<b>I read</b> \u2028 them all."
        assert annotator["appealed_at"] == answers[0].json()["appealed_at"]
        audit = (await admin.get(f"/v1/campaigns/{campaign['id']}/audit")).json()["items"]
        assert [(each["action"], [*each["details"].values()]) for each in audit] == [
            ("annotator.blocked", ["too fast"]),
            ("annotator.appealed", ["<b>I read</b> \u2028 them all."]),
        ]

    async def test_are_found_in_the_list_of_annotators(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        await claim(suite, campaign, "w")
        await decide(suite, campaign, "block", "too fast")
        await claim(suite, campaign, "v")
        admin = await suite.client("annotation", "admin")

        async def found(**asked: str) -> list[str]:
            answer = await admin.get(f"/v1/campaigns/{campaign['id']}/annotators", params=asked)
            return [each["annotator"] for each in answer.json()["items"]]

        assert await found(appealed="true") == []
        await appeal(suite, campaign, "w")
        assert [await found(appealed=each, blocked=each) for each in ("true", "false")] == [["w"], ["v"]]
        assert [await found(annotator=each) for each in ("v", "V", "w ")] == [["v"], [], []]
        assert await found(annotator="w", blocked="false") == []

    async def test_stand_in_an_audit_log_that_is_filtered_by_decision_and_by_annotator(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        await claim(suite, campaign, "w")
        for decision in ("block", "unblock", "block"):
            blocked = await decide(suite, campaign, decision, "too fast")
        client, campaign_id = await suite.annotation("admin"), UUID(campaign["id"])

        async def actions(**asked: Any) -> list[str]:
            return [each.action async for each in client.list_audit_entries(campaign_id, page_size=1, **asked)]

        assert await actions(action="annotator.unblocked") == ["annotator.unblocked"]
        assert await actions(annotator_id=UUID(blocked["id"]), order="newest_first") == [
            "annotator.blocked",
            "annotator.unblocked",
            "annotator.blocked",
        ]
        assert await actions(annotator_id=uuid4()) == []

    async def test_can_be_left_again_after_another_block(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        await claim(suite, campaign, "w")
        await decide(suite, campaign, "block", "too fast")
        assert (await appeal(suite, campaign, "w")).status_code == 200
        assert (await decide(suite, campaign, "unblock", "right"))["appeal"] == "I read them all."
        assert problem(await appeal(suite, campaign, "w")) == (409, "nothing-to-appeal")
        assert (await decide(suite, campaign, "block", "again"))["appeal"] is None
        assert (await appeal(suite, campaign, "w", "I still do.")).status_code == 200

    async def test_are_left_through_the_annotators_own_frontend(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        await claim(suite, campaign, "w")
        await decide(suite, campaign, "block", "too fast")
        assert (await appeal(suite, campaign, "w", team="others")).status_code == 404
        assert (await appeal(suite, campaign, "nobody")).status_code == 404
        admin = await suite.client("annotation", "admin")
        body = {"annotator": "w", "note": "x"}
        assert (await admin.post(f"/v1/campaigns/{campaign['id']}/appeals", json=body)).status_code == 403

    async def test_without_words_or_with_too_many_are_refused(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        await claim(suite, campaign, "w")
        await decide(suite, campaign, "block", "too fast")
        for note in ("", "  ", "x" * 2001, "a\0b"):
            assert (await appeal(suite, campaign, "w", note)).status_code == 422
