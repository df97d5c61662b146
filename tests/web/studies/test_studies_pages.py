"""The list of studies, and a study's page: its tasks, its measures, and which of them deserve trust."""

import csv
import html
import io
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from spotthebot.fed.score_sets.domain import ScoredContext
from spotthebot.kit.ids import new_id
from tests.factories.campaigns import rated_campaign
from tests.factories.chat_studies import import_chats
from tests.factories.pages import signed_in
from tests.factories.rated_chats import exported_chats
from tests.factories.running_suite import RunningSuite
from tests.factories.stored_scores import store_scores
from tests.factories.studies import conversation, created, import_conversations, register_bots


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "fed", "analytics", "web")


@pytest.fixture
async def reader(suite: RunningSuite) -> AsyncIterator[httpx.AsyncClient]:
    async with signed_in(suite, "analyst") as client:
        client.timeout = 60
        yield client


async def _study(suite: RunningSuite, **more: Any) -> dict[str, Any]:
    """Make a study of one campaign of Likert ratings: ours 4.5, baseline 3, secretive 1.5, from two annotators."""
    campaign = (await rated_campaign(suite, await register_bots(suite))).rpartition("/")[2]
    admin = await suite.client("annotation", "admin")
    return await created(admin, "/v1/studies", {"name": "small", "campaigns": [campaign]} | more)


class TestList:
    async def test_has_every_study_with_its_outcome(self, suite: RunningSuite, reader: httpx.AsyncClient):
        study = await _study(suite, outcome="quality")
        answer = await reader.get("/studies")
        assert f'<a href="/studies/{study["id"]}"><bdi>small</bdi></a>' in answer.text
        assert "Outcome: <bdi>quality</bdi>" in answer.text
        assert "1 task ·" in answer.text

    async def test_says_how_a_study_is_made_where_there_is_none(self, reader: httpx.AsyncClient):
        assert "./stb study FILE.yaml --open" in (await reader.get("/studies")).text

    async def test_is_for_readers_of_results(self, suite: RunningSuite):
        async with signed_in(suite, "team", team="us") as team:
            assert (await team.get("/studies")).status_code == 403
        async with httpx.AsyncClient(base_url=suite.urls["web"], trust_env=False) as stranger:
            assert (await stranger.get("/studies")).status_code == 401


class TestStudy:
    async def test_shows_its_tasks_and_all_bots_by_every_measure(self, suite: RunningSuite, reader: httpx.AsyncClient):
        study = await _study(suite, outcome="quality")
        answer = await reader.get(f"/studies/{study['id']}")
        assert answer.status_code == 200
        assert f'href="/campaigns/{study["campaigns"][0]}"' in answer.text
        assert "dialogue_likert" in answer.text
        for number in ("4.50", "3.00", "1.50"):
            assert f'<td class="number">{number}</td>' in answer.text

    async def test_has_no_table_of_tasks_if_it_is_of_chats_alone(self, suite: RunningSuite, reader: httpx.AsyncClient):
        chats = await import_chats(suite, exported_chats(6))
        admin = await suite.client("annotation", "admin")
        study = await created(admin, "/v1/studies", {"name": "talks", "chats": [chats], "outcome": "quality"})
        answer = await reader.get(f"/studies/{study['id']}")
        assert answer.status_code == 200
        assert "Protocol</th>" not in answer.text
        for bot in ("ada", "bob", "cid"):
            assert f">{bot}<" in answer.text

    async def test_says_which_measures_deserve_trust(self, suite: RunningSuite, reader: httpx.AsyncClient):
        study = await _study(suite, outcome="quality")
        analytics = await suite.client("analytics", "admin")
        assessed = (await analytics.get(f"/v1/studies/{study['id']}/assessment", timeout=60)).json()
        shown = html.unescape((await reader.get(f"/studies/{study['id']}")).text)
        assert assessed["sentences"]
        for sentence in assessed["sentences"]:
            assert sentence in shown
        assert "Pairs told apart at 0.1 · 0.05 · 0.01" in shown

    async def test_shows_why_nothing_is_assessed(self, suite: RunningSuite, reader: httpx.AsyncClient):
        study = await _study(suite)
        analytics = await suite.client("analytics", "admin")
        refused = await analytics.get(f"/v1/studies/{study['id']}/assessment")
        answer = await reader.get(f"/studies/{study['id']}")
        assert (refused.status_code, answer.status_code) == (409, 200)
        assert refused.json()["detail"] in html.unescape(answer.text)

    async def test_is_shown_in_german(self, suite: RunningSuite, reader: httpx.AsyncClient):
        study = await _study(suite, outcome="quality")
        reader.cookies.set("language", "de")
        answer = await reader.get(f"/studies/{study['id']}")
        assert "Welche Maße Vertrauen verdienen" in answer.text
        assert "4,50" in answer.text

    async def test_links_the_mixed_model_of_each_rated_measure(self, suite: RunningSuite, reader: httpx.AsyncClient):
        study = await _study(suite, outcome="quality")
        link = f"/studies/{study['id']}/mixed-model?measure=quality"
        assert f'href="{link}"' in (await reader.get(f"/studies/{study['id']}")).text
        answer = await reader.get(f"{link}&kind=linear")
        assert answer.status_code == 200
        assert "It is not this suite&#39;s inference" in answer.text
        assert f'<a href="/studies/{study["id"]}"><bdi>small</bdi></a>' in answer.text

    async def test_gives_every_value_as_a_file(self, suite: RunningSuite, reader: httpx.AsyncClient):
        study = await _study(suite, outcome="quality")
        answer = await reader.get(f"/studies/{study['id']}/values.csv")
        assert answer.headers["content-disposition"] == 'attachment; filename="values.csv"'
        rows = [*csv.DictReader(io.StringIO(answer.text, newline=""))]
        assert {row["bot"] for row in rows} == {"ours", "baseline", "secretive"}
        assert "quality" in {row["dimension"] for row in rows}

    async def test_is_not_found_where_there_is_none(self, reader: httpx.AsyncClient):
        for path in ("", "/values.csv", "/mixed-model?measure=quality"):
            assert (await reader.get(f"/studies/{uuid4()}{path}")).status_code == 404


class TestScores:
    async def test_stand_beside_people_s_ratings_set_by_set(self, suite: RunningSuite, reader: httpx.AsyncClient):
        """The study's ratings are of ours 4.5, baseline 3 and secretive 1.5; the scores are of other conversations."""
        study = await _study(suite)
        assert f"/studies/{study['id']}/scores" in (await reader.get(f"/studies/{study['id']}")).text
        assert "There is no complete score set yet." in (await reader.get(f"/studies/{study['id']}/scores")).text
        collection = await import_conversations(suite, [conversation("c", "ours", "baseline")])
        set_id = await store_scores(
            suite, collection, _scores({"ours": 3.0, "baseline": 1.0, "secretive": 2.0}), dimension="quality"
        )
        page = f"/studies/{study['id']}/scores"
        assert 'type="checkbox"' in (await reader.get(page)).text
        answer = await reader.get(page, params={"score_set": str(set_id)})
        assert answer.status_code == 200
        for figure in ("0.50", "4.50", "3.000"):  # rho of the orders 1 3 2 and 1 2 3; a rating; a score
            assert f'<td class="number">{figure}</td>' in answer.text
        refused = await reader.get(page, params={"score_set": str(uuid4())})
        assert "There is no score job" in refused.text

    async def test_say_so_if_no_question_is_called_as_a_dimension(self, suite: RunningSuite, reader: httpx.AsyncClient):
        study = await _study(suite)
        collection = await import_conversations(suite, [conversation("c", "ours", "baseline")])
        set_id = await store_scores(suite, collection, _scores({"ours": 3.0}), dimension="charm")
        answer = await reader.get(f"/studies/{study['id']}/scores", params={"score_set": str(set_id)})
        assert "no rating &#39;charm&#39;" in answer.text
        asked = {"score_set": str(set_id), "rated": "quality"}
        answer = await reader.get(f"/studies/{study['id']}/scores", params=asked)
        assert "People answered the question quality." in answer.text


def _scores(scores: dict[str, float]) -> list[ScoredContext]:
    return [ScoredContext(new_id(), 2, bot, 10 + at, 0, (score,)) for at, (bot, score) in enumerate(scores.items())]
