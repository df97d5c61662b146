"""Campaigns are listed and found by name; results are served as JSON, CSV or Parquet, whichever `Accept` prefers."""

import csv
import io
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest

from spotthebot.clients import Conflict
from tests.factories.annotating import WHOLE
from tests.factories.campaigns import create_campaign, import_campaign, imported_annotation
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations

PARQUET = "application/vnd.apache.parquet"
SECTIONS = {
    "win-rates": 1,
    "ranking": 2,
    "features": 4,
    "segments": 2,
    "fooling-rates": 2,
    "survival": 2,
    "agreement": 6,
    "annotators": 2,
    "time": 0,  # an import has none
    "sensitivity": 6,
}
"""Rows of each result for two bots that met at one length: of features four pairs, of labels three for each bot."""


async def _campaign(suite: RunningSuite, name: str = "autumn", *, bots: tuple[str, str] = ("X", "=Y")) -> str:
    """Import a campaign in which two annotators labelled two conversations of two bots; return its id."""
    keys = ["c0", "c1"]
    collection = await import_conversations(suite, [conversation(key, *bots) for key in keys])
    rows = [
        imported_annotation(f"{key}/{annotator}", conversation=key, annotator=annotator, answer=WHOLE)
        for key in keys
        for annotator in ("ann", "bob")
    ]
    path = await import_campaign(suite, collection, {"p": [(key, 1) for key in keys]}, rows, name=name)
    return path.rpartition("/")[2]


async def _failed_campaign(suite: RunningSuite, name: str) -> None:
    """Make a campaign that fails, since no conversation is as long as its longest segment."""
    collection = await import_conversations(suite, [conversation("short", "X", "Y")])
    await create_campaign(suite, "failed", collection, name=name, segments=[9])


async def _get(suite: RunningSuite, path: str, accept: str = "*/*", **params: Any) -> httpx.Response:
    analyst = await suite.client("analytics", "analyst")
    return await analyst.get(path, params=params or None, headers={"Accept": accept})


def _rows(answer: httpx.Response) -> list[dict[str, str]]:
    assert answer.status_code == 200, answer.text
    return list(csv.DictReader(io.StringIO(answer.text, newline="")))


class TestForms:
    async def test_every_result_has_a_table_in_csv_and_in_parquet(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        for section, count in SECTIONS.items():
            path = f"/v1/campaigns/{campaign}/{section}"
            header, *rows = csv.reader(io.StringIO((await _get(suite, path, "text/csv")).text, newline=""))
            table = pq.read_table(io.BytesIO((await _get(suite, path, PARQUET)).content))
            assert (section, len(rows), table.num_rows) == (section, count, count)
            assert table.column_names == header

    async def test_a_table_holds_the_figures_of_the_document(self, suite: RunningSuite):
        path = f"/v1/campaigns/{await _campaign(suite)}/ranking"
        bots = (await _get(suite, path)).json()["ranking"]["bots"]
        answer = await _get(suite, path, "text/csv")
        rows = _rows(answer)
        for bound in ("estimate", "low", "high"):
            assert [float(row[f"win_rate_{bound}"]) for row in rows] == [each["win_rate"][bound] for each in bots]
        assert [row["win_rate_estimate"] for row in rows] == ["1.0", "0.0"]
        assert [row["bot"] for row in rows] == ["X", "'=Y"]  # no spreadsheet runs it
        assert [row["win_rate_uncertainty_annotators"] for row in rows] == ["2", "2"]
        assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
        assert answer.headers["Content-Disposition"] == 'attachment; filename="ranking.csv"'
        assert answer.headers["Vary"] == "Accept, Origin"
        table = pq.read_table(io.BytesIO((await _get(suite, path, PARQUET)).content)).to_pylist()
        assert [row["bradley_terry_estimate"] for row in table] == [each["bradley_terry"]["estimate"] for each in bots]
        assert table[0]["rank_probabilities"] == bots[0]["rank_probabilities"]
        analyst = await suite.client("analytics", "analyst")
        headers = {"Accept": "text/csv", "If-None-Match": answer.headers["ETag"]}
        assert (await analyst.get(path, headers=headers)).status_code == 304

    @pytest.mark.parametrize(
        ("accept", "expected"),
        [
            ("", "application/json"),
            ("text/html, */*;q=0.8", "application/json"),
            ("TEXT/CSV", "text/csv; charset=utf-8"),
            ("text/*", "text/csv; charset=utf-8"),
            ("application/json;q=0.5, text/csv", "text/csv; charset=utf-8"),
            (f"{PARQUET};q=0.9, text/csv;q=0.2", PARQUET),
            ("*/*;q=0.1, application/json;q=0", "text/csv; charset=utf-8"),
        ],
    )
    async def test_accept_decides_by_quality_and_by_the_most_specific_range(
        self, suite: RunningSuite, accept: str, expected: str
    ):
        answer = await _get(suite, "/v1/campaigns", accept)
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, expected)

    @pytest.mark.parametrize(
        "accept", ["text/html", "text/csv;q=0", "text/csv;q=nan", "image/*;q=x", "text/csv;q=x", ";;,,q=1"]
    )
    async def test_a_form_that_is_not_served_is_refused_with_those_that_are(self, suite: RunningSuite, accept: str):
        refused = await _get(suite, "/v1/campaigns", accept)
        assert refused.status_code == 406
        assert refused.headers["Content-Type"] == "application/problem+json"
        assert refused.json()["detail"] == (
            f"This is served as application/json, text/csv, {PARQUET}: name one of them in `Accept`."
        )


class TestCampaigns:
    async def test_campaigns_are_listed_page_by_page_in_every_form(self, suite: RunningSuite):
        ids = [await _campaign(suite, name) for name in ("autumn", "spring", "winter")]
        first = await _get(suite, "/v1/campaigns", limit=1)
        assert [(each["id"], each["name"], each["state"]) for each in first.json()["items"]] == [
            (ids[0], "autumn", "open")
        ]
        rest = await _get(suite, "/v1/campaigns", limit=2, cursor=first.json()["next_cursor"])
        assert ([each["id"] for each in rest.json()["items"]], rest.json()["next_cursor"]) == (ids[1:], None)
        assert [each["id"] for each in (await _get(suite, "/v1/campaigns", name="winter")).json()["items"]] == ids[2:]
        newest = (await _get(suite, "/v1/campaigns", order="newest_first")).json()["items"]
        assert [each["id"] for each in newest] == ids[::-1]
        path: str | None = "/v1/campaigns?limit=1"
        for name in ("autumn", "spring", "winter"):
            assert path is not None
            page = await _get(suite, path, "text/csv")
            assert [row["name"] for row in _rows(page)] == [name]
            link = page.headers.get("Link")
            path = link and link.removeprefix("<").removesuffix('>; rel="next"')
            assert path is None or path.count("cursor=") == 1
        assert path is None
        assert (await _get(suite, "/v1/campaigns", cursor="nonsense")).status_code == 422

    async def test_campaigns_are_found_by_name_wherever_an_id_is_taken(self, suite: RunningSuite):
        name = "été 50%41 & co?"
        campaign = await _campaign(suite, name)
        await _failed_campaign(suite, name)
        analytics = await suite.analytics("analyst")
        assert (await analytics.ranking(name)).campaign_id == (await analytics.ranking(campaign)).campaign_id
        assert (await analytics.figure(name, "ranking.json")).startswith(b"{")
        assert [each async for each in analytics.list_analyses(campaign_id=name)] == []
        assert (await _get(suite, "/v1/campaigns/autum/ranking")).status_code == 404

    async def test_several_campaigns_of_one_name_are_refused_with_their_ids(self, suite: RunningSuite):
        ids = [await _campaign(suite) for _ in range(2)]
        refused = await _get(suite, "/v1/campaigns/autumn/ranking")
        assert refused.status_code == 409
        assert refused.json()["detail"].startswith(
            f"2 campaigns are called 'autumn': give the id of one of them: {ids[0]} (open, of 20"
        )
        assert ids[1] in refused.json()["detail"]
        with pytest.raises(Conflict):
            await (await suite.analytics("analyst")).list_analyses(campaign_id="autumn").page()

    async def test_a_mistyped_name_is_answered_with_the_nearest_one(self, suite: RunningSuite):
        await _campaign(suite)
        for path, params in (("/v1/campaigns/autum/analysis", {}), ("/v1/analyses", {"campaign_id": "autum"})):
            refused = await _get(suite, path, **params)
            assert (refused.status_code, refused.json()["detail"]) == (
                404,
                "There is no campaign 'autum': the nearest is 'autumn'.",
            )

    async def test_campaigns_are_hidden_from_teams_and_frontends(self, suite: RunningSuite):
        await _campaign(suite)
        for role in ("team", "annotation"):
            client = await suite.client("analytics", role, team="us")
            for path in ("/v1/campaigns", "/v1/campaigns/autumn/ranking", "/v1/campaigns/autum/ranking"):
                assert (await client.get(path)).status_code == 403, (role, path)
