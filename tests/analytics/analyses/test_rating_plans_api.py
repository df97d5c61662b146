"""`/v1/analyses` of the kind `rating_planning`: plans of ratings and behaviours run as jobs and have a table."""

import csv
import io
from typing import Any

import httpx
import pytest

from spotthebot.analytics.stats.rating_power import RatingDesign, effect_of_shares
from spotthebot.analytics.stats.rating_sample_size import plan_dialogues, plan_power
from spotthebot.contracts.analytics.rating_plans import RatingEffect, RatingPlanningIn
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import until

RATING = {"kind": "rating", "d": 0.4}
BEHAVIOUR = {"kind": "behaviour", "share": 0.1, "other_share": 0.2}
REQUEST = {"kind": "rating_planning", "effects": [RATING]}


async def _run(suite: RunningSuite, body: dict[str, Any]) -> dict[str, Any]:
    analyst = await suite.client("analytics", "analyst")
    answer = await analyst.post("/v1/analyses", json=REQUEST | body)
    assert answer.status_code == 202, answer.text
    return await until(analyst, f"/v1/analyses/{answer.json()['id']}", "complete")


class TestRatingPlans:
    async def test_have_the_power_of_a_number_of_dialogues(self, suite: RunningSuite):
        """Finch, Finch & Choi 2023, section 10: with 100 dialogues a bot d = .40 has power .80."""
        found = await _run(suite, {"dialogues": 100})
        (effect,) = found["rating_plan"]["effects"]
        assert (effect["dialogues"], effect["annotators"], f"{effect['power']:.2f}") == (100, 200, "0.80")
        assert (found["stability"], found["plan"], found["campaign_id"]) == (None, None, None)

    async def test_have_the_fewest_dialogues_for_each_effect(self, suite: RunningSuite):
        asked = {"bots": 3, "values_per_annotation": 12, "annotators": 80, "power": 0.7, "significance_level": 0.1}
        found = await _run(suite, asked | {"effects": [RATING, BEHAVIOUR]})
        design = RatingDesign(3, values_per_annotation=12, annotators=80)
        expected = [
            plan_dialogues(effect, design, power=0.7, significance_level=0.1)
            for effect in (0.4, effect_of_shares(0.1, 0.2))
        ]
        plan = found["rating_plan"]
        assert [each["dialogues"] for each in plan["effects"]] == [each.dialogues for each in expected]
        assert [each["power"] for each in plan["effects"]] == [each.power for each in expected]
        assert [(each["share"], each["other_share"]) for each in plan["effects"]] == [(None, None), (0.1, 0.2)]
        assert plan["dialogues_per_bot"] == max(each.dialogues or 0 for each in expected)
        assert (plan["annotators"], plan["annotations_per_annotator"], plan["power"]) == (80, None, 0.7)

    async def test_say_so_where_only_more_annotators_are_enough(self, suite: RunningSuite):
        found = await _run(suite, {"annotators": 6})
        (effect,) = found["rating_plan"]["effects"]
        assert (effect["dialogues"], effect["power"]) == (None, None)
        assert effect["reason"] == "no number of dialogues is enough for 6 annotators: only more annotators are"
        assert found["rating_plan"]["dialogues_per_bot"] is None

    async def test_have_a_table_with_a_row_for_each_effect(self, suite: RunningSuite):
        found = await _run(suite, {"effects": [RATING, BEHAVIOUR], "dialogues": 60})
        analyst = await suite.client("analytics", "analyst")
        table = await analyst.get(f"/v1/analyses/{found['id']}", headers={"Accept": "text/csv"})
        rows = [*csv.DictReader(io.StringIO(table.text, newline=""))]
        assert [row["kind"] for row in rows] == ["rating", "behaviour"]
        assert float(rows[0]["power"]) == plan_power(0.4, 60).power
        assert rows[0]["share"] == ""

    async def test_are_started_by_the_client(self, suite: RunningSuite):
        request = RatingPlanningIn(effects=(RatingEffect(kind="rating", d=0.4),))
        job = await (await suite.analytics("analyst")).create_analysis(request)
        assert (job.kind, job.request) == ("rating_planning", request)

    @pytest.mark.parametrize(
        "body",
        [
            {"effects": []},
            {"effects": [{"d": 0.4}]},
            {"effects": [{"kind": "rating", "d": -1}]},
            {"effects": [{"kind": "rating", "d": 1e9}]},
            {"effects": [{"kind": "rating", "share": 0.1, "other_share": 0.2}]},
            {"effects": [BEHAVIOUR | {"share": 0}]},
            {"effects": [RATING] * 101},
            {"bots": 1},
            {"bots": 10**9},
            {"dialogues": 1},
            {"annotators": 1},
            {"dialogue_correlation": 1},
            {"values_per_annotation": 0.5},
            {"power": 1},
            {"win_rates": [0.7]},
        ],
    )
    async def test_are_refused_for_bad_input(self, suite: RunningSuite, body: dict[str, Any]):
        analyst = await suite.client("analytics", "analyst")
        assert (await analyst.post("/v1/analyses", json=REQUEST | body)).status_code == 422

    async def test_are_not_made_for_a_team_or_without_a_key(self, suite: RunningSuite):
        team = await suite.client("analytics", "team", team="us")
        assert (await team.post("/v1/analyses", json=REQUEST)).status_code == 403
        async with httpx.AsyncClient(base_url=suite.urls["analytics"]) as nobody:
            assert (await nobody.post("/v1/analyses", json=REQUEST)).status_code == 401
