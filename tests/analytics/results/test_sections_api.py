"""Several sections in one answer: each is what its own endpoint answers, and what they share is asked once."""

from typing import Any, get_args
from uuid import uuid4

import httpx
import pytest

from spotthebot.analytics.results.domain.analysis import SECTIONS
from spotthebot.contracts.analytics.results import RankingOut
from spotthebot.contracts.analytics.sections import SectionName, SectionProblem, SectionsOut
from tests.factories.campaigns import PAIRS, campaign_of, labelled_campaign
from tests.factories.running_suite import RunningSuite
from tests.factories.served import served

FIGURES = ("ranking", "win-matrix", "survival", "features", "segments")


@pytest.fixture(scope="module")
def suite(module_suite: RunningSuite) -> RunningSuite:
    """The file's services, which keep all rows: most tests read one campaign."""
    return module_suite


@pytest.fixture(scope="module")
async def path(suite: RunningSuite) -> str:
    """The path of a campaign that has ended."""
    return await _campaign(suite)


async def _get(suite: RunningSuite, path: str, role: str = "analyst", **params: Any) -> httpx.Response:
    return await (await suite.client("analytics", role)).get(path, params=params)


async def _campaign(suite: RunningSuite, pairs: list[tuple[str, str]] = PAIRS, **more: Any) -> str:
    return await labelled_campaign(suite, {}, pairs, **more)


class TestSections:
    def test_are_those_that_are_computed(self):
        assert set(get_args(SectionName)) == set(SECTIONS)
        assert set(SectionsOut.model_fields) == {"campaign_id", "revision", "pending"} | {
            section.key for section in SECTIONS.values()
        }

    async def test_are_what_their_own_endpoints_answer_and_ask_for_a_campaign_once(
        self, suite: RunningSuite, path: str
    ):
        alone = {name: (await _get(suite, f"{path}/{name}")).json() for name in SECTIONS}
        before = served(suite)
        found = await _get(suite, f"{path}/sections", sections=[*SECTIONS])
        asked = served(suite) - before
        assert {section.key: alone[name] for name, section in SECTIONS.items()}.items() <= found.json().items()
        assert (found.json()["pending"], len(found.json()["revision"])) == ([], 32)
        assert sorted(asked.items()) == [
            (("analytics", "GET", "/v1/campaigns/{campaign_id}/sections"), 1),
            (("annotation", "GET", "/v1/campaigns/{campaign_id}"), 1),
            (("annotation", "GET", "/v1/campaigns/{campaign_id}/annotations/revision"), 1),
            (("conversations", "GET", "/v1/collections/{collection_id}"), 1),
        ]

    async def test_sections_that_were_not_asked_for_are_null(self, suite: RunningSuite, path: str):
        client = await suite.analytics("analyst")
        found = await client.sections(path.rpartition("/")[2], sections=["ranking"], filter="none")
        assert isinstance(found.ranking, RankingOut)
        assert found.ranking.filter == "none"
        assert [name for name, each in found if each is None] == [
            section.key for name, section in SECTIONS.items() if name != "ranking"
        ]
        for wrong in ({}, {"sections": "rankings"}, {"sections": "ranking", "wait_seconds": -1}):
            assert (await _get(suite, f"{path}/sections", **wrong)).status_code == 422

    async def test_sections_without_a_result_have_the_problem_of_their_own_endpoint(self, suite: RunningSuite):
        path = await _campaign(suite, [("HU", "ours")])
        found = (await _get(suite, f"{path}/sections", sections=["ranking", "fooling-rates", "features"])).json()
        assert found["fooling_rates"]["counts"]["annotations"] > 0
        for name in ("ranking", "features"):
            refused = await _get(suite, f"{path}/{name}")
            assert (refused.status_code, found[name]["type"]) == (409, "urn:spotthebot:problem:one-bot-only")
            assert found[name] == {each: refused.json()[each] for each in SectionProblem.model_fields}

    async def test_campaigns_by_another_protocol_have_the_reason_in_each_section(self, suite: RunningSuite):
        campaign = (await campaign_of(suite, protocol="spot_the_bot_gamified", segments=[3]))["id"]
        found = (await _get(suite, f"/v1/campaigns/{campaign}/sections", sections=["ranking", "time"])).json()
        assert {found[name]["type"] for name in ("ranking", "time")} == {"urn:spotthebot:problem:other-protocol"}
        assert found["revision"] is None

    async def test_sections_that_are_not_there_in_time_are_pending(self, suite: RunningSuite):
        path = await _campaign(suite)
        ready = (await _get(suite, f"{path}/time")).json()
        found = (await _get(suite, f"{path}/sections", sections=["survival", "time"], wait_seconds=0)).json()
        assert (found["pending"], found["survival"], found["time"]) == (["survival"], None, ready)
        found = (await _get(suite, f"{path}/sections", sections=["survival", "time"], wait_seconds=60)).json()
        assert found["pending"] == []
        assert found["survival"] == (await _get(suite, f"{path}/survival")).json()

    async def test_sections_of_a_running_campaign_may_be_recent(self, suite: RunningSuite):
        path = await _campaign(suite, closed=False)
        found = (await _get(suite, f"{path}/sections", sections=["ranking", "time"], recent=True)).json()
        assert found["revision"] is None
        assert found["ranking"]["as_of"] == found["time"]["as_of"] is not None
        assert found["time"] == (await _get(suite, f"{path}/time", recent=True)).json()
        of_now = (await _get(suite, f"{path}/sections", sections=["ranking", "time"])).json()
        assert (of_now["ranking"]["as_of"], of_now["revision"] is None) == (None, False)

    async def test_are_for_those_who_may_read_each_alone(self, suite: RunningSuite, path: str):
        for role in ("admin", "analyst", "team", "annotation", "service"):
            alone = await _get(suite, f"{path}/ranking", role)
            found = await _get(suite, f"{path}/sections", role, sections="ranking")
            assert found.status_code == alone.status_code == (403 if role in {"team", "annotation"} else 200), role
        assert (await _get(suite, f"/v1/campaigns/{uuid4()}/sections", sections="ranking")).status_code == 404


class TestFiguresOfSections:
    async def test_show_the_same_annotations_and_ask_nobody(self, suite: RunningSuite, path: str):
        exact = {figure: (await _get(suite, f"{path}/figures/{figure}", heading=False)).json() for figure in FIGURES}
        found = await _get(suite, f"{path}/sections", sections=[*SECTIONS])
        for figure in FIGURES:
            before = served(suite)
            drawn = await _get(suite, f"{path}/figures/{figure}", heading=False, revision=found.json()["revision"])
            assert (drawn.json(), (served(suite) - before).total()) == (exact[figure], 1), figure

    async def test_figures_whose_results_are_not_kept_show_the_annotations_of_now(self, suite: RunningSuite, path: str):
        found = await _get(suite, f"{path}/figures/ranking", revision="0" * 32)
        assert found.json() == (await _get(suite, f"{path}/figures/ranking")).json()
        assert (await _get(suite, f"{path}/figures/ranking", revision="../x")).status_code == 422
