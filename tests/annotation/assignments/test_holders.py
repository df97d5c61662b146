"""A request that names the holder of a package touches no package of another annotator."""

from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from tests.factories.annotating import DECISION, WHOLE, answer_items, claim
from tests.factories.campaigns import campaign_of
from tests.factories.running_suite import RunningSuite

GAME: dict[str, Any] = {"protocol": "spot_the_bot_gamified", "protocol_version": 1, "segments": [3]}


async def _ask(
    suite: RunningSuite, assignment: Mapping[str, Any], what: str, holder: Mapping[str, Any] | None
) -> httpx.Response:
    frontend = await suite.client("annotation", "annotation")
    path, more = f"/v1/assignments/{assignment['id']}", {} if holder is None else {"holder": holder}
    match what:
        case "save":
            return await frontend.put(f"{path}/items/0", json={"answer": DECISION} | more)
        case "exchange":
            return await frontend.post(f"{path}/items/0/exchanges", json={"open": 1} | more)
        case "release":
            return await frontend.post(f"{path}/release", json=more)
        case "heartbeat":
            return await frontend.post(f"{path}/heartbeat", json={"position": 0} | more)
        case _:
            return await frontend.post(f"{path}/submit", json=more)


class TestHolder:
    @pytest.mark.parametrize("what", ["save", "exchange", "heartbeat", "submit", "release"])
    async def test_finds_no_package_of_another_annotator_or_campaign(self, suite: RunningSuite, what: str):
        campaign, other = [await campaign_of(suite, **(GAME if what == "exchange" else {})) for _ in range(2)]
        held = {name: await claim(suite, campaign, name) for name in ("ann", "eve")}
        assignment, mine = held["ann"], {"campaign_id": campaign["id"], "annotator": "ann"}
        await claim(suite, other, "ann")
        if what == "submit":
            await answer_items(suite, assignment)
        for wrong in ({"annotator": "eve"}, {"annotator": "nobody"}, {"campaign_id": other["id"]}):
            refused = await _ask(suite, assignment, what, mine | wrong)
            assert (refused.status_code, refused.json()["type"]) == (404, "urn:spotthebot:problem:no-such-assignment")
        assert await _state(suite, assignment) == ("leased", WHOLE if what == "submit" else {})
        assert (await _ask(suite, assignment, what, mine)).status_code == 200
        assert (await _ask(suite, held["eve"], "heartbeat", None)).status_code == 200

    async def test_is_named_whole(self, suite: RunningSuite):
        assignment = await claim(suite, await campaign_of(suite), "ann")
        assert (await _ask(suite, assignment, "save", {"annotator": "ann"})).status_code == 422


async def _state(suite: RunningSuite, assignment: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return an assignment's state and its first answer."""
    frontend = await suite.client("annotation", "annotation")
    found = (await frontend.get(f"/v1/assignments/{assignment['id']}")).json()
    return found["state"], found["items"][0]["answer"]
