"""The dashboard of a campaign by ratings: its headline measure with ranks, every measure, and files."""

import csv
import io
from collections.abc import AsyncIterator

import httpx
import pytest

from tests.factories.campaigns import DIMENSIONS, rated_campaign
from tests.factories.pages import signed_in
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import register_bots


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics", "web")


@pytest.fixture
async def reader(suite: RunningSuite) -> AsyncIterator[httpx.AsyncClient]:
    async with signed_in(suite, "analyst") as client:
        client.timeout = 60
        yield client


async def _address(suite: RunningSuite) -> str:
    return "/campaigns/" + (await rated_campaign(suite, await register_bots(suite))).rpartition("/")[2]


class TestMeasures:
    async def test_are_shown_with_the_headline_first_and_every_bot(
        self, suite: RunningSuite, reader: httpx.AsyncClient
    ):
        """ours 4.5, baseline 3, secretive 1.5, from two annotators: too few to tell any pair apart."""
        answer = await reader.get(f"{await _address(suite)}?whole=true")
        assert answer.status_code == 200
        assert "none of the 3 pairs of bots can be told apart" in answer.text
        assert answer.text.index("<h3>quality</h3>") < answer.text.index("<summary>grammatical</summary>")
        for number in ("4.50", "3.00", "1.50"):
            assert f'<td class="number">{number}</td>' in answer.text
        assert "Krippendorff" in answer.text
        assert 'name="unit"' not in answer.text

    async def test_are_shown_in_german(self, suite: RunningSuite, reader: httpx.AsyncClient):
        reader.cookies.set("language", "de")
        answer = await reader.get(f"{await _address(suite)}?whole=true")
        assert "Alle Maße" in answer.text
        assert "4,50" in answer.text

    async def test_are_a_part_that_a_script_can_load(self, suite: RunningSuite, reader: httpx.AsyncClient):
        address = await _address(suite)
        answer = await reader.get(f"{address}/parts/measures", headers={"Accept": "*/*", "Sec-Fetch-Mode": "cors"})
        assert answer.status_code == 200
        assert "<h3>quality</h3>" in answer.text

    async def test_come_as_files(self, suite: RunningSuite, reader: httpx.AsyncClient):
        address = await _address(suite)
        answer = await reader.get(f"{address}/measures/quality.csv")
        assert answer.headers["content-disposition"] == 'attachment; filename="quality.csv"'
        rows = [*csv.DictReader(io.StringIO(answer.text, newline=""))]
        assert [(row["bot"], row["estimate"]) for row in rows] == [
            ("ours", "4.5"),
            ("baseline", "3.0"),
            ("secretive", "1.5"),
        ]
        assert len((await reader.get(f"{address}/measures/quality.json")).json()["pairs"]) == 3
        assert (await reader.get(f"{address}/measures/humour.csv")).status_code == 404

    async def test_are_all_in_one_table(self, suite: RunningSuite, reader: httpx.AsyncClient):
        text = (await reader.get(f"{await _address(suite)}?whole=true")).text
        assert all(f'<th scope="row">{each}</th>' in text for each in DIMENSIONS)
