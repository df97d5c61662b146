"""The worker of `analytics` looks at open campaigns, and `annotation` stops the campaign whose pairs are decided."""

import asyncio
from typing import Any

import psycopg
import pytest

from tests.factories.annotating import WHOLE, ask, work_through
from tests.factories.campaigns import open_campaign
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations, until

_X_WINS = WHOLE | {"entity": {"A": "human", "B": "bot"}}


@pytest.fixture(scope="module")
def settings_of() -> dict[str, dict[str, Any]]:
    return {"analytics": {"verdict_seconds": 0.2}}


async def _campaign(suite: RunningSuite, conversations: int = 10) -> dict[str, Any]:
    talks = [conversation(f"c{at}", "X", "Y") for at in range(conversations)]
    return await open_campaign(
        suite,
        await import_conversations(suite, talks),
        segments=[1],
        annotations_per_segment=20,
        protocol="spot_the_bot",
        stop_when="every_pair_decided",
    )


async def _decided(suite: RunningSuite, campaign: dict[str, Any]) -> dict[str, Any]:
    """Let annotators prefer X until the campaign is paused."""
    for at in range(19):
        claimed = await ask(suite, campaign, f"ann{at}")
        if claimed.status_code == 409:  # it is paused
            break
        await work_through(suite, claimed.json(), _X_WINS)
        await asyncio.sleep(0.3)  # time for a look, so that the campaign may be paused before the next person
    return await until(await suite.client("annotation", "admin"), f"/v1/campaigns/{campaign['id']}", "paused")


class TestWatchedCampaigns:
    async def test_stop_by_themselves_once_their_pairs_are_decided(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        stopped = await _decided(suite, campaign)
        assert stopped["stop_reason"] == "every pair of bots is decided"
        assert 6 <= stopped["submitted"] < 19
        analyst = await suite.client("analytics", "analyst")
        (pair,) = (await analyst.get(f"/v1/campaigns/{campaign['id']}/verdicts")).json()["items"]
        assert (pair["bot"], pair["verdict"], pair["other"]) == ("X", "ahead", "Y")

    async def test_stop_although_the_look_at_another_one_fails(self, suite: RunningSuite):
        """A label that no release knows, as a damaged row has it, breaks the look at two of three."""
        broken = [await _campaign(suite, 1)]
        campaign = await _campaign(suite)
        broken.append(await _campaign(suite, 1))
        for each in broken:
            await work_through(suite, (await ask(suite, each, "ann")).json(), _X_WINS)
        with psycopg.connect(suite.database.owner["annotation"]) as connection:
            damaged = connection.execute(
                "UPDATE annotation.annotations SET answer = jsonb_set(answer, '{entity,A}', '\"?\"')"
            )
            assert damaged.rowcount == 2
        assert (await _decided(suite, campaign))["stop_reason"] == "every pair of bots is decided"
        admin = await suite.client("annotation", "admin")
        states = [(await admin.get(f"/v1/campaigns/{each['id']}")).json()["state"] for each in broken]
        assert states == ["open", "open"]
