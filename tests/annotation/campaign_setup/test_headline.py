"""The measure that ranks the bots of a campaign: declared with the campaign, fixed once it was opened."""

from typing import Any

import httpx
import pytest

from tests.factories.annotating import state_of
from tests.factories.campaigns import CONVERSATIONS, create_campaign
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations


async def _create(suite: RunningSuite, **settings: object) -> httpx.Response:
    collection = await import_conversations(suite, [conversation("c0", "ours", "theirs")])
    admin = await suite.client("annotation", "admin")
    body = {"name": "rated", "domain": "everyday", "collection_id": collection, "mode": "uploaded", "open": False}
    return await admin.post("/v1/campaigns", json=body | settings)


async def _draft(suite: RunningSuite, **settings: object) -> dict[str, Any]:
    """Make a draft with packages; without settings the standard measure ranks its bots."""
    collection = await import_conversations(suite, CONVERSATIONS[:2])
    return await create_campaign(suite, "draft", collection, protocol="dialogue_likert", open=False, **settings)


class TestHeadline:
    async def test_is_a_measure_of_the_protocol(self, suite: RunningSuite):
        for protocol, headline in (("dialogue_likert", "engaging"), ("abc_consistency", "redundant")):
            answer = await _create(suite, protocol=protocol, headline=headline)
            assert (answer.status_code, answer.json()["headline"]) == (201, headline)
            assert (await state_of(suite, answer.json()))["headline"] == headline

    async def test_is_null_where_nobody_named_one(self, suite: RunningSuite):
        assert (await _create(suite, protocol="dialogue_likert")).json()["headline"] is None

    @pytest.mark.parametrize(
        ("protocol", "headline", "kind", "detail"),
        [
            (
                "abc_empathy",
                "quality",
                "headline-unknown",
                "The protocol 'abc_empathy' has no measure 'quality': choose one of empathetic, lack_of_empathy.",
            ),
            (
                "spot_the_bot",
                "fluency",
                "headline-unused",
                "The protocol 'spot_the_bot' ranks bots by the labels of who is a bot: leave `headline` out.",
            ),
        ],
    )
    async def test_is_refused_where_bots_cannot_be_ranked_by_it(
        self, suite: RunningSuite, protocol: str, headline: str, kind: str, detail: str
    ):
        answer = await _create(suite, protocol=protocol, headline=headline)
        assert answer.status_code == 422
        problem = answer.json()
        assert (problem["type"], problem["detail"]) == (f"urn:spotthebot:problem:{kind}", detail)
        assert [each["pointer"] for each in problem["errors"]] == ["/headline"]

    async def test_can_change_in_a_draft_and_no_more_afterwards(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        draft = await _draft(suite)
        path = f"/v1/campaigns/{draft['id']}"
        changed = await admin.patch(path, json={"headline": "engaging"})
        assert (changed.status_code, changed.json()["headline"]) == (200, "engaging")
        assert (await admin.post(f"{path}/open")).status_code == 200
        refused = await admin.patch(path, json={"headline": "quality"})
        assert (refused.status_code, [each["pointer"] for each in refused.json()["errors"]]) == (409, ["/headline"])
        assert (await state_of(suite, draft))["headline"] == "engaging"

    async def test_has_to_fit_a_protocol_that_changes(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        draft = await _draft(suite, headline="engaging")
        path = f"/v1/campaigns/{draft['id']}"
        refused = await admin.patch(path, json={"protocol": "abc_sociality"})
        assert refused.status_code == 422
        changed = await admin.patch(path, json={"protocol": "abc_sociality", "headline": "antisocial"})
        assert (changed.status_code, changed.json()["headline"]) == (200, "antisocial")
