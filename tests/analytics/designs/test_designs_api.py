"""`/v1/designs/reach`: what a study can show at all, asked before there is one."""

import pytest

from spotthebot.analytics.stats.design_reach import least_conversations_of_any, lowest_p
from spotthebot.analytics.stats.pair_power import Design, power_of
from tests.factories.running_suite import RunningSuite

REACH = "/v1/designs/reach"


class TestReach:
    @pytest.mark.parametrize(
        ("asked", "design"),
        [
            ({"pairs": 10, "conversations": 4}, Design(annotators=240)),
            ({"pairs": 15, "conversations": 12, "annotators": 12}, Design(annotators=12)),
            ({"pairs": 1, "conversations": 9, "annotations_per_conversation": 2}, Design(0.7, 2, annotators=18)),
            ({"pairs": 3, "conversations": 0}, Design(annotators=2)),
            ({"pairs": 1_000_000, "conversations": 1_000_000, "annotators": 2}, Design(annotators=2)),
        ],
    )
    async def test_is_that_of_the_planner(self, suite: RunningSuite, asked: dict[str, int], design: Design):
        analyst = await suite.client("analytics", "analyst")
        found = (await analyst.get(REACH, params=asked)).json()
        pairs = asked["pairs"]
        assert found == {
            "pairs": pairs,
            "conversations": asked["conversations"],
            "smallest_p": lowest_p(asked["conversations"], design, n_pairs=pairs),
            "least_conversations": least_conversations_of_any(design, n_pairs=pairs),
            "power": power_of(0.75, asked["conversations"], design, n_pairs=pairs),
        }

    @pytest.mark.parametrize(
        ("asked", "name"),
        [
            ({"conversations": 4}, "pairs"),
            ({"pairs": 0, "conversations": 4}, "pairs"),
            ({"pairs": 3, "conversations": -1}, "conversations"),
            ({"pairs": 3, "conversations": 10**9}, "conversations"),
            ({"pairs": 3, "conversations": 4, "annotators": 1}, "annotators"),
            ({"pairs": 3, "conversations": 4, "bots": 3}, "bots"),
        ],
    )
    async def test_is_refused_with_the_name_of_the_parameter(
        self, suite: RunningSuite, asked: dict[str, int], name: str
    ):
        analyst = await suite.client("analytics", "analyst")
        answer = await analyst.get(REACH, params=asked)
        assert answer.status_code == 422
        assert [each["parameter"] for each in answer.json()["errors"]] == [name]

    async def test_is_not_said_to_a_team(self, suite: RunningSuite):
        team = await suite.client("analytics", "team", team="us")
        assert (await team.get(REACH, params={"pairs": 3, "conversations": 4})).status_code == 403
