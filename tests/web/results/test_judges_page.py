"""The page of a campaign's judges."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest

from tests.factories.campaigns import rated_campaign
from tests.factories.judge_campaigns import import_units
from tests.factories.judge_units import units
from tests.factories.pages import signed_in
from tests.factories.running_suite import RunningSuite


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics", "web")


@pytest.fixture
async def reader(suite: RunningSuite) -> AsyncIterator[httpx.AsyncClient]:
    async with signed_in(suite, "analyst") as client:
        client.timeout = 60
        yield client


async def _page(reader: httpx.AsyncClient, path: str, language: str = "en") -> str:
    address = f"/campaigns/{path.rpartition('/')[2]}/judges"
    answer = await reader.get(address, params={"filter": "none"}, headers={"Accept-Language": language})
    assert answer.status_code == 200, answer.text
    return answer.text


class TestPage:
    async def test_shows_what_each_judge_is_worth_and_marks_it_as_a_program(
        self, suite: RunningSuite, reader: httpx.AsyncClient
    ):
        path = await import_units(suite, units(per_pair=3), judges={"oracle": lambda _: "human"})
        page = await _page(reader, path)
        for text in (
            "oracle",
            "A judge is a program.",
            "Labels saved",
            "Judge alone (biased)",
            "Do its probabilities hold?",
            "Win rates, and ranks by the corrected ones",
        ):
            assert text in page
        rates, _, ranks = page.partition("Win rates, and ranks by the corrected ones")
        for part in (rates, ranks):
            assert "people labelled all of its units, so nothing is left for the judge to save" in part
        for table in re.findall(r'<table class="stacked">.*?</table>', page, re.DOTALL):  # on a phone, without a header
            assert table.count('<td class="number" data-label="') == table.count('<td class="number"') > 0
        german = await _page(reader, path, "de")
        for text in (
            "Ein automatischer Bewerter ist ein Programm.",
            "Gesparte Urteile",
            "Nur Bewerter (verzerrt)",
            "Gewinnraten",
        ):
            assert text in german
        dashboard = await reader.get(f"/campaigns/{path.rpartition('/')[2]}")
        assert f"/campaigns/{path.rpartition('/')[2]}/judges" in dashboard.text

    async def test_says_that_no_judge_has_labelled_the_campaign(self, suite: RunningSuite, reader: httpx.AsyncClient):
        path = await import_units(suite, units(per_pair=3))
        assert "No judge has labelled this campaign." in await _page(reader, path)

    async def test_says_why_there_is_nothing_to_show(self, suite: RunningSuite, reader: httpx.AsyncClient):
        path = await import_units(suite, [replace(each, labels=()) for each in units(per_pair=1)])
        assert "Nobody has submitted a package" in await _page(reader, path)

    async def test_shows_the_measures_of_another_protocol(self, suite: RunningSuite, reader: httpx.AsyncClient):
        path = await rated_campaign(suite, {}, judges=["oracle"])
        page = await _page(reader, path)
        for text in ("quality", "engaging", "oracle", "Judge alone (biased)", "Labels saved"):
            assert text in page
        assert "people labelled all of its units, so nothing is left for the judge to save" in page
        dashboard = await reader.get(f"/campaigns/{path.rpartition('/')[2]}")
        assert f"/campaigns/{path.rpartition('/')[2]}/judges" in dashboard.text
