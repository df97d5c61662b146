"""Measures of a campaign that no annotator gives: they are those of a study over the same conversations."""

import csv
import io
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
import pytest
from sqlalchemy import text

from spotthebot.contracts.fed.score_jobs import ScoreJobIn
from spotthebot.kit.database.sessions import Database
from tests.analytics.studies import test_values_without_people as of_studies
from tests.analytics.studies.test_values_without_people import SCORER, SECONDS, scored, timed
from tests.factories.chat_studies import answers_to, create_study, import_chats, import_task
from tests.factories.lazy_imports import needs_models
from tests.factories.rated_chats import exported_chats
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations

pytestmark = needs_models
services_of, settings_of = of_studies.services_of, of_studies.settings_of

_OF_SOURCE = {"campaign_id", "campaign", "domain", "speakers", "name", "task"}


@dataclass(frozen=True)
class Rated:
    """A campaign whose annotators rated dialogues, the scores of its collection, and a study of both with seconds."""

    campaign: str
    collection: str
    scores: str
    study: str


@pytest.fixture(scope="module")
def suite(module_suite: RunningSuite) -> RunningSuite:
    """The file's services, which keep all rows: most tests read one campaign."""
    return module_suite


@pytest.fixture(scope="module")
async def rated(suite: RunningSuite) -> Rated:
    chats = timed(exported_chats(6))
    collection = await import_chats(suite, chats)
    answers = answers_to("dialogue_likert", chats)
    campaign = await import_task(suite, collection, "small.likert", "dialogue_likert", answers)
    scores = str(await scored(suite, collection))
    study = await create_study(suite, [campaign], scores=[scores], latency=True, seed=11)
    return Rated(campaign, collection, scores, study)


async def get(suite: RunningSuite, campaign: str, what: str, role: str = "analyst", **params: Any) -> httpx.Response:
    client = await suite.client("analytics", role)
    return await client.get(f"/v1/campaigns/{campaign}/{what}", params=params)


def numbers(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result without what says where it comes from."""
    return {name: value for name, value in result.items() if name not in _OF_SOURCE}


class TestMeasures:
    async def test_are_those_of_a_study_over_the_same_conversations(self, suite: RunningSuite, rated: Rated):
        campaign, study = rated.campaign, rated.study
        added: dict[str, Any] = {"scores": [rated.scores], "latency": True, "seed": 11}
        own = (await get(suite, campaign, "measures", **added)).json()
        theirs = (await of_studies.get(suite, study, "measures")).json()
        assert [numbers(each) for each in own["measures"]] == [numbers(each) for each in theirs["measures"]]
        asked = (await get(suite, campaign, "measures", seed=11)).json()
        assert own["measures"][: len(asked["measures"])] == asked["measures"]
        names = [each["measure"] for each in own["measures"][len(asked["measures"]) :]]
        assert names == ["fed_fluency", "fed_specificity", "fed_sensibleness", "fed_overall", "latency"]
        assert own["headline"] == asked["headline"] == "quality"
        assert own["data_sha256"] != asked["data_sha256"]
        for name in ("fed_overall", "latency"):
            one = (await get(suite, campaign, f"measures/{name}", **added)).json()
            of_study = (await of_studies.get(suite, study, f"measures/{name}")).json()
            assert numbers(one) == numbers(of_study)
            assert one["pairs"]
            assert (one["campaign_id"], one["campaign"]) == (campaign, "small.likert")
            assert one["speakers"] == asked["speakers"]

    async def test_include_the_seconds_of_replies(self, suite: RunningSuite, rated: Rated):
        found = (await get(suite, rated.campaign, "measures/latency", latency=True)).json()
        assert {each["bot"]: each["estimate"] for each in found["bots"]} == {
            bot: pytest.approx(seconds + 0.3) for bot, seconds in SECONDS.items()
        }
        assert (found["counts"]["annotators"], found["level"], found["better"]) == (0, "turn", "lower")

    async def test_are_rows_of_the_table_of_values_with_one_text_for_each_dialogue(
        self, suite: RunningSuite, rated: Rated
    ):
        tables = [
            [row for row in csv.DictReader(io.StringIO(answer.text)) if row["bot"] != "HU"]
            for answer in (
                await get(suite, rated.campaign, "values", scores=[rated.scores], latency=True),
                await of_studies.get(suite, rated.study, "values"),
            )
        ]
        assert tables[0] == tables[1]
        assert {"latency", "fed_overall", "quality"} <= {row["dimension"] for row in tables[0]}

    async def test_are_kept_beside_the_results_without_them(self, suite: RunningSuite):
        chats = exported_chats(2)
        answers = answers_to("dialogue_likert", chats)
        campaign = await import_task(suite, await import_chats(suite, chats), "kept", "dialogue_likert", answers)
        for latency in (False, True, False, True):
            assert (await get(suite, campaign, "measures", latency=latency)).status_code == 200
        database = Database(suite.database.app["analytics"], pool_size=1)
        async with database.read() as session:
            question = text("SELECT count(*) FROM analytics.results WHERE subject_id = :campaign")
            assert await session.scalar(question, {"campaign": campaign}) == 2
        await database.close()

    async def test_are_named_by_their_set_where_two_share_a_dimension(self, suite: RunningSuite, rated: Rated):
        campaign, sets = rated.campaign, [rated.scores, str(await scored(suite, rated.collection, "dialogue"))]
        found = {each["measure"] for each in (await get(suite, campaign, "measures", scores=sets)).json()["measures"]}
        assert {"quality", "fed.fed_overall", "fed-2.fed_overall"} <= found
        one = (await get(suite, campaign, "measures/fed-2.fed_overall", scores=sets)).json()
        assert (one["measure"], one["level"]) == ("fed-2.fed_overall", "dialogue")


class TestRefusals:
    async def test_name_the_campaign_and_the_score_set(self, suite: RunningSuite, rated: Rated):
        other = await import_conversations(suite, [conversation(f"o{at}", "x", "y") for at in range(2)])
        apart, unknown = str(await scored(suite, other)), str(uuid4())
        fed = await suite.fed("admin")
        job = await fed.create_score_job(ScoreJobIn(collection_id=other, scorer=SCORER, bots=("x",)))
        await fed.cancel_score_job(job.id)
        for score_set, status, problem in (
            (apart, 409, "scores-apart"),
            (unknown, 404, "no-such-scores"),
            (str(job.id), 409, "scores-unfinished"),
        ):
            for what in ("measures", "measures/fed_overall", "values"):
                answer = await get(suite, rated.campaign, what, scores=[score_set])
                assert (answer.status_code, answer.json()["type"].rsplit(":", 1)[-1]) == (status, problem)
                assert f"The request for 'small.likert' has the score set {score_set}" in answer.json()["detail"]

    async def test_an_unknown_measure_is_named_with_all_that_there_are(self, suite: RunningSuite, rated: Rated):
        campaign = rated.campaign
        answer = await get(suite, campaign, "measures/speed", latency=True)
        assert answer.status_code == 404
        assert answer.json()["detail"].endswith("latency.")
        assert (await get(suite, campaign, "measures/latency")).status_code == 404
        assert (await get(suite, campaign, "measures", scores=["x"])).status_code == 422

    async def test_teams_see_none(self, suite: RunningSuite, rated: Rated):
        team = await suite.client("analytics", "team", team="one")
        assert (await team.get(f"/v1/campaigns/{rated.campaign}/measures/latency?latency=true")).status_code == 403
