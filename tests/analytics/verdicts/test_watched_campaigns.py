"""The worker of `analytics` looks at open campaigns, and `annotation` stops the campaign whose pairs are decided."""

import asyncio
from typing import Any

import pytest

from tests.factories.annotating import WHOLE, ask, work_through
from tests.factories.campaigns import open_campaign
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations, until

_X_WINS = WHOLE | {"entity": {"A": "human", "B": "bot"}}


@pytest.fixture(scope="module")
def settings_of() -> dict[str, dict[str, Any]]:
    return {"analytics": {"verdict_seconds": 0.2}}


class TestWatchedCampaigns:
    async def test_stop_by_themselves_once_their_pairs_are_decided(self, suite: RunningSuite):
        talks = [conversation(f"c{at}", "X", "Y") for at in range(10)]
        campaign = await open_campaign(
            suite,
            await import_conversations(suite, talks),
            segments=[1],
            annotations_per_segment=20,
            protocol="spot_the_bot",
            stop_when="every_pair_decided",
        )
        for at in range(19):
            claimed = await ask(suite, campaign, f"ann{at}")
            if claimed.status_code == 409:  # it is paused
                break
            await work_through(suite, claimed.json(), _X_WINS)
            await asyncio.sleep(0.3)
        stopped = await until(await suite.client("annotation", "admin"), f"/v1/campaigns/{campaign['id']}", "paused")
        assert stopped["stop_reason"] == "every pair of bots is decided"
        assert 6 <= stopped["submitted"] < 19
        analyst = await suite.client("analytics", "analyst")
        (pair,) = (await analyst.get(f"/v1/campaigns/{campaign['id']}/verdicts")).json()["items"]
        assert (pair["bot"], pair["verdict"], pair["other"]) == ("X", "ahead", "Y")
