"""Results of campaigns by protocols of ratings, comparisons and behaviours, over HTTP."""

import asyncio
import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from spotthebot.clients import AsyncAnalytics
from tests.factories.command_line import run_stb
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, created, import_conversations, until

TALKS = [conversation("t1", "ada", "bob"), conversation("t2", "bob", "ada"), conversation("t3", "ada", "HU")]
DIMENSIONS = (
    "grammatical", "relevant", "informative", "emotion_aware", "engaging", "consistent", "proactive", "quality"
)  # fmt: skip
FREE_TEXT = {
    "format": 1,
    "name": "words",
    "version": 1,
    "title": "Words",
    "unit": {"kind": "dialogue"},
    "steps": [{"id": "all", "title": "All", "questions": [{"id": "why", "kind": "text", "text": "Why?"}]}],
}


def _sides(a: int, b: int) -> dict[str, Any]:
    """Rate both sides with the same points on every dimension."""
    return {dimension: {"A": a, "B": b} for dimension in DIMENSIONS}


async def _campaign(
    suite: RunningSuite,
    protocol: str,
    answers: Sequence[tuple[str, str, Mapping[str, Any]]],
    *,
    talks: list[dict[str, Any]] = TALKS,
    right: Mapping[str, str] | None = None,
) -> str:
    """Import a campaign of whole conversations by a protocol: answers by conversation and annotator.

    With `right`, it compares each conversation in it with the one that it names.
    """
    collection = await import_conversations(suite, talks)
    admin = await suite.client("annotation", "admin")
    body = {"mode": "import", "name": protocol, "domain": "everyday", "collection_id": collection, "protocol": protocol}
    campaign = await created(admin, "/v1/campaigns", body)
    path = f"/v1/campaigns/{campaign['id']}"
    await until(admin, path, "open")
    segments = [{"conversation": each["external_id"], "exchanges": 3} for each in talks]
    if right:
        segments = [
            {"conversation": one, "exchanges": 3, "right": {"conversation": other, "exchanges": 3}}
            for one, other in right.items()
        ]
    await created(admin, f"{path}/packages", {"packages": [{"external_id": "p", "segments": segments}]})
    rows = [
        {
            "external_id": f"a{number}",
            "package": "p",
            "conversation": key,
            "exchanges": 3,
            "annotator": annotator,
            "answer": answer,
            "elapsed_ms": 1200,
            "started_at": None,
            "ended_at": None,
            "completion_code": None,
        }
        for number, (key, annotator, answer) in enumerate(answers)
    ]
    if rows:
        await created(admin, f"{path}/annotations", {"annotations": rows})
    return campaign["id"]


LIKERT = [
    ("t1", "ann", _sides(5, 2)),
    ("t2", "ann", _sides(1, 4)),
    ("t3", "ann", _sides(5, 5)),
    ("t1", "ben", _sides(4, 2)),
    ("t2", "ben", _sides(3, 5)),
    ("t3", "ben", _sides(3, 4)),
]


async def _analyst(suite: RunningSuite) -> httpx.AsyncClient:
    return await suite.client("analytics", "analyst")


@pytest.fixture(scope="module")
def suite(module_suite: RunningSuite) -> RunningSuite:
    """The file's services, which keep all rows: most tests read one campaign."""
    return module_suite


@pytest.fixture(scope="module")
async def campaign(suite: RunningSuite) -> str:
    """A campaign of ratings of dialogues."""
    return await _campaign(suite, "dialogue_likert", LIKERT)


class TestMeasures:
    async def test_name_and_rank_the_bots_by_ratings_of_dialogues(self, suite: RunningSuite, campaign: str):
        """Worked by hand in test_measures: ada 26 / 6, bob 2, people 4.5."""
        analyst = await _analyst(suite)
        found = (await analyst.get(f"/v1/campaigns/{campaign}/measures")).json()
        assert found["headline"] == "quality"
        assert [each["measure"] for each in found["measures"]] == [*DIMENSIONS]
        quality = found["measures"][-1]
        assert {each["bot"]: round(each["estimate"], 4) for each in quality["bots"]} == {
            "ada": 4.3333,
            "bob": 2.0,
            "HU": 4.5,
        }
        assert [each["name"] for each in found["speakers"]] == ["ada", "bob", "HU"]

    async def test_come_one_by_one_with_pairs_and_as_a_table(self, suite: RunningSuite, campaign: str):
        analyst = await _analyst(suite)
        path = f"/v1/campaigns/{campaign}/measures/quality"
        found = (await analyst.get(path)).json()
        (pair,) = found["pairs"]
        assert (pair["bot"], pair["other"], round(pair["estimate"], 4)) == ("ada", "bob", 2.3333)
        assert (await analyst.get(f"/v1/campaigns/{campaign}/measures/headline")).json() == found
        rows = (await analyst.get(path, headers={"Accept": "text/csv"})).text.splitlines()
        assert rows[0].startswith("bot,estimate,low,high,n,")
        assert len(rows) == 4
        columns = next(csv.DictReader(rows))
        assert float(columns["published_estimate"]) == found["bots"][0]["published"]["estimate"]
        assert {"published_low", "published_mean_of_means", "published_tie_low", "published_method"} < set(columns)

    async def test_have_a_mixed_model_if_it_is_asked_for(self, suite: RunningSuite, campaign: str):
        """The one form does not take the other's place among the results that are kept."""
        analyst = await _analyst(suite)
        path, found = f"/v1/campaigns/{campaign}/measures/quality", {}
        for kind in ("linear", "cumulative_link", None, "linear"):
            answer = await analyst.get(path, params={"mixed_model": kind} if kind else {})
            found[kind] = answer.json()["mixed_model"]
        assert found[None] is None
        assert found["linear"]["method"].startswith("linear mixed model")
        assert found["cumulative_link"]["method"].startswith("cumulative link mixed model")
        assert [each["bot"] for each in found["linear"]["bots"]] == ["ada", "bob"]
        refused = await analyst.get(path, params={"mixed_model": "probit"})
        assert refused.status_code == 422

    async def test_belong_to_who_spoke_the_turns(self, suite: RunningSuite):
        """ada speaks turns 0, 2, 4 of the first conversation and gets 5 for each, bob the others and gets 1."""
        rated = {dimension: {str(turn): (5, 1)[turn % 2] for turn in range(6)} for dimension in DIMENSIONS}
        campaign, analyst = await _campaign(suite, "turn_likert", [("t1", "ann", rated)]), await _analyst(suite)
        found = (await analyst.get(f"/v1/campaigns/{campaign}/measures/quality", params={"filter": "none"})).json()
        assert {each["bot"]: (each["estimate"], each["n"]) for each in found["bots"]} == {"ada": (5, 3), "bob": (1, 3)}

    async def test_are_what_the_typed_client_returns(self, suite: RunningSuite, campaign: str):
        async with AsyncAnalytics(suite.urls["analytics"], await suite.keys.make("analyst")) as client:
            every, one = await client.list_measures(campaign), await client.get_measure(campaign)
        assert one.measure == every.headline == "quality"
        assert [bot.bot for bot in one.bots] == ["ada", "bob", "HU"]

    async def test_change_with_the_annotations_and_are_kept_until_then(self, suite: RunningSuite, campaign: str):
        analyst = await _analyst(suite)
        path = f"/v1/campaigns/{campaign}/measures"
        first = await analyst.get(path)
        again = await analyst.get(path, headers={"If-None-Match": first.headers["etag"]})
        assert again.status_code == 304


class TestValues:
    async def test_are_a_table_of_ratings_with_the_names_of_bots(self, suite: RunningSuite, campaign: str):
        analyst = await _analyst(suite)
        answer = await analyst.get(f"/v1/campaigns/{campaign}/values")
        assert answer.headers["content-type"].startswith("text/csv")
        rows = [*csv.DictReader(io.StringIO(answer.text, newline=""))]
        assert len(rows) == len(LIKERT) * 2 * len(DIMENSIONS)
        quality = [row for row in rows if row["dimension"] == "quality"]
        said: dict[str, list[float]] = {}
        for row in quality:
            said.setdefault(row["bot"], []).append(float(row["value"]))
        assert {bot: sorted(values) for bot, values in said.items()} == {
            "ada": [3, 4, 4, 5, 5, 5],
            "bob": [1, 2, 2, 3],
            "HU": [4, 5],
        }
        assert len({row["annotator"] for row in quality}) == 2
        assert {row["turn"] for row in quality} == {""}

    async def test_are_what_the_command_for_tables_ranks(self, suite: RunningSuite, campaign: str, tmp_path: Path):
        """The same means, from the file alone."""
        analyst = await _analyst(suite)
        table = tmp_path / "values.csv"
        table.write_bytes((await analyst.get(f"/v1/campaigns/{campaign}/values")).content)
        printed = await asyncio.to_thread(run_stb, "analyse", "table", table, "--yes", "--json", "-")
        found = json.loads(printed.stdout)["dimensions"]["quality"]["bots"]
        kept = (await analyst.get(f"/v1/campaigns/{campaign}/measures/quality")).json()["bots"]
        assert {each["bot"]: each["estimate"] for each in found} == {each["bot"]: each["estimate"] for each in kept}

    async def test_have_two_rows_for_a_comparison_which_name_both_dialogues(self, suite: RunningSuite):
        """ada is preferred in t1, where bob was her partner, over cid in t4 with the same partner."""
        talks = [conversation("t1", "ada", "bob"), conversation("t4", "cid", "bob")]
        answers = [("t1", "ann", dict.fromkeys(DIMENSIONS, "A"))]
        campaign = await _campaign(suite, "comparative", answers, talks=talks, right={"t1": "t4"})
        text = (await (await _analyst(suite)).get(f"/v1/campaigns/{campaign}/values")).text
        rows = [row for row in csv.DictReader(io.StringIO(text, newline="")) if row["dimension"] == "quality"]
        assert [(row["bot"], row["value"], row["exchanges"]) for row in rows] == [
            ("ada", "1.0", "3"),
            ("cid", "0.0", "3"),
        ]
        assert {row["pair"] for row in rows} == {"+".join(row["conversation"] for row in rows)}

    async def test_say_which_turn_they_are_of(self, suite: RunningSuite):
        rated = {dimension: {str(turn): turn % 5 + 1 for turn in range(6)} for dimension in DIMENSIONS}
        campaign, analyst = await _campaign(suite, "turn_likert", [("t1", "ann", rated)]), await _analyst(suite)
        text = (await analyst.get(f"/v1/campaigns/{campaign}/values", params={"filter": "none"})).text
        rows = [row for row in csv.DictReader(io.StringIO(text, newline="")) if row["dimension"] == "quality"]
        assert [(row["bot"], row["turn"], row["value"]) for row in rows] == [
            (("ada", "bob")[turn % 2], str(turn), f"{turn % 5 + 1}.0") for turn in range(6)
        ]

    async def test_tell_two_speakers_of_one_name_apart(self, suite: RunningSuite):
        """Else the second would be taken for a repetition of the first."""
        answers = [("t4", annotator, _sides(5, 3)) for annotator in ("ann", "ben")]
        campaign = await _campaign(suite, "dialogue_likert", answers, talks=[conversation("t4", "HU", "HU")])
        analyst = await _analyst(suite)
        text = (await analyst.get(f"/v1/campaigns/{campaign}/values")).text
        rows = [row for row in csv.DictReader(io.StringIO(text, newline="")) if row["dimension"] == "quality"]
        assert sorted((row["turn"], row["value"]) for row in rows) == [("A", "5.0")] * 2 + [("B", "3.0")] * 2

    async def test_have_no_other_form(self, suite: RunningSuite, campaign: str):
        analyst = await _analyst(suite)
        answer = await analyst.get(f"/v1/campaigns/{campaign}/values", headers={"Accept": "application/json"})
        assert answer.status_code == 406


class TestRefusals:
    async def test_name_the_measures_that_there_are(self, suite: RunningSuite, campaign: str):
        analyst = await _analyst(suite)
        answer = await analyst.get(f"/v1/campaigns/{campaign}/measures/humour")
        assert answer.status_code == 404
        assert "there are grammatical, relevant" in answer.json()["detail"]

    async def test_tell_that_there_are_no_annotations(self, suite: RunningSuite):
        campaign, analyst = await _campaign(suite, "dialogue_likert", []), await _analyst(suite)
        for path in ("measures", "measures/quality"):
            answer = await analyst.get(f"/v1/campaigns/{campaign}/{path}")
            assert (answer.status_code, answer.json()["type"].rsplit(":", 1)[-1]) == (409, "nothing-annotated")

    async def test_tell_that_free_text_measures_nothing(self, suite: RunningSuite):
        admin, analyst = await suite.client("annotation", "admin"), await _analyst(suite)
        await created(admin, "/v1/protocols", {"protocol": FREE_TEXT})
        campaign = await _campaign(suite, "words", [("t1", "ann", {"why": "because"})])
        answer = await analyst.get(f"/v1/campaigns/{campaign}/measures")
        assert (answer.status_code, answer.json()["type"].rsplit(":", 1)[-1]) == (409, "nothing-to-measure")

    async def test_keep_results_that_name_the_bots_from_teams_frontends_and_strangers(
        self, suite: RunningSuite, campaign: str
    ):
        team = await suite.client("analytics", "team", team="alpha")
        frontend = await suite.client("analytics", "annotation")
        for path in ("measures", "measures/quality", "measures/headline", "values"):
            where = f"/v1/campaigns/{campaign}/{path}"
            assert [(await each.get(where)).status_code for each in (team, frontend)] == [403, 403]
            assert (await team.get(where, headers={"Authorization": ""})).status_code == 401
