"""Levels over HTTP: what no statistic computes is refused with the parameter's name, and the outermost are answered."""

import math
from typing import Any

import pytest

from spotthebot.analytics.results.domain.analysis import SECTIONS
from spotthebot.contracts.levels import MAX_LEVEL, MIN_LEVEL
from tests.factories.annotating import WHOLE, claim, work_through
from tests.factories.campaigns import open_campaign
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations

NO_LEVELS = (0, 1, -1, 1.2, 95, 1e-16, 1e-7, 1 - 1e-16, math.nan, math.inf, "95 %", "")
RESULTS = (*SECTIONS, "analysis", "figures/survival")
UNKNOWN = "00000000-0000-7000-8000-000000000000"


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("annotation", "conversations", "analytics", "fed")


def _assert_refused(answer: Any, parameter: str) -> None:
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"].startswith("application/problem+json")
    problem = answer.json()
    assert {"type", "title", "status", "detail"} <= problem.keys()
    assert [fault["parameter"] for fault in problem["errors"]] == [parameter]


class TestLevelsOfResults:
    @pytest.mark.parametrize("parameter", ["confidence_level", "significance_level"])
    @pytest.mark.parametrize("result", RESULTS)
    async def test_levels_out_of_range_are_refused(self, suite: RunningSuite, result: str, parameter: str):
        analyst = await suite.client("analytics", "analyst")
        for level in NO_LEVELS:
            answer = await analyst.get(f"/v1/campaigns/{UNKNOWN}/{result}", params={parameter: str(level)})
            _assert_refused(answer, parameter)

    async def test_the_outermost_levels_are_answered(self, suite: RunningSuite):
        spoken = [conversation(f"c{number}", "X", "Y") for number in range(4)]
        campaign = await open_campaign(suite, await import_conversations(suite, spoken), segments=[1], package_size=4)
        labels = {"A": "human", "B": "bot"}
        for who in ("v", "w"):
            await work_through(suite, await claim(suite, campaign, who), WHOLE | {"entity": labels})
        analyst = await suite.client("analytics", "analyst")
        for level in (MIN_LEVEL, MAX_LEVEL):
            asked = {"confidence_level": level, "significance_level": level, "resamples": 20}
            for result in SECTIONS:
                answer = await analyst.get(f"/v1/campaigns/{campaign['id']}/{result}", params=asked)
                assert answer.status_code == 200, (result, level, answer.text)


class TestLevelsOfJobs:
    @pytest.mark.parametrize("parameter", ["power", "significance_level"])
    async def test_a_plan_refuses_levels_out_of_range(self, suite: RunningSuite, parameter: str):
        await _try_bodies(suite, "analytics", "/v1/analyses", {"kind": "planning", "win_rates": [0.7]}, parameter)

    @pytest.mark.parametrize("parameter", ["power", "significance_level", "confidence_level"])
    async def test_more_data_refuses_levels_out_of_range(self, suite: RunningSuite, parameter: str):
        await _try_bodies(suite, "analytics", "/v1/analyses", {"kind": "more_data", "campaign_id": UNKNOWN}, parameter)

    async def test_a_score_job_refuses_levels_out_of_range(self, suite: RunningSuite):
        scorer = {"model": "gpt2", "mode": "followup_mean", "dimension_set": {"set": "bipartite"}}
        body = {"collection_id": UNKNOWN, "scorer": scorer}
        await _try_bodies(suite, "fed", "/v1/score-jobs", body, "confidence_level", role="admin")


async def _try_bodies(
    suite: RunningSuite, service: str, path: str, body: dict[str, Any], parameter: str, *, role: str = "analyst"
) -> None:
    client = await suite.client(service, role)
    for level in (each for each in NO_LEVELS if not isinstance(each, float) or math.isfinite(each)):  # as JSON has them
        answer = await client.post(path, json=body | {parameter: level}, headers={"Idempotency-Key": str(level)})
        assert answer.status_code == 422, answer.text
        assert answer.headers["content-type"].startswith("application/problem+json")
        assert any(parameter in str(fault) for fault in answer.json()["errors"]), answer.text
