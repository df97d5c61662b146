"""The dashboard of a campaign by ratings: its headline measure with ranks, every measure, and files."""

import csv
import html
import io
from collections.abc import AsyncIterator
from typing import Any, Final
from uuid import UUID

import httpx
import pytest

from spotthebot.fed.score_sets.domain import ScoredContext
from tests.factories.campaigns import DIMENSIONS, labelled_campaign, rated_campaign
from tests.factories.chat_studies import answers_to, import_chats, import_task
from tests.factories.pages import signed_in
from tests.factories.rated_chats import exported_chats
from tests.factories.running_suite import RunningSuite
from tests.factories.stored_scores import store_scores
from tests.factories.studies import register_bots

MINUS: Final = "\N{MINUS SIGN}"


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "fed", "analytics", "web")


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
        assert all(f'<th scope="row" class="measure"><bdi>{each}</bdi></th>' in text for each in DIMENSIONS)


class TestComputedMeasures:
    async def test_are_added_by_ticking_score_sets_and_latency(self, suite: RunningSuite, reader: httpx.AsyncClient):
        address = await _address(suite)
        campaign = await (await suite.client("annotation", "admin")).get(f"/v1{address}")
        collection = campaign.json()["collection_id"]
        conversations = await suite.client("conversations", "admin")
        held = (await conversations.get(f"/v1/collections/{collection}/conversations")).json()["items"]
        scored = [
            ScoredContext(UUID(each["id"]), 2, side["name"], 9, 0, (2.5,))
            for each in held
            for side in each["participants"]
        ]
        set_id = await store_scores(suite, collection, scored, dimension="charm")
        assert f'href="{address}/parts/measures"' in (await reader.get(address)).text
        plain = (await reader.get(f"{address}/parts/measures")).text
        assert (f'name="scores" value="{set_id}"' in plain, "fed_charm" in plain) == (True, False)
        added = (await reader.get(f"{address}/parts/measures?scores={set_id}&latency=true")).text
        assert f'value="{set_id}" checked' in added
        assert "<summary>fed_charm</summary>" in added
        assert "<summary>latency</summary>" in added
        link = f"{address}/measures/fed_charm.csv?scores={set_id}&latency=True"
        assert link in html.unescape(added)
        assert "2.5" in (await reader.get(link)).text

    async def test_comparisons_have_no_column_of_people(self, suite: RunningSuite, reader: httpx.AsyncClient):
        """In chats one side is a person, about whom nobody is asked."""
        chats = exported_chats(6)
        collection = await import_chats(suite, chats)
        answers = answers_to("comparative", chats)
        campaign = await import_task(suite, collection, "compared", "comparative", answers)
        shown = (await reader.get(f"/campaigns/{campaign}/parts/measures")).text
        assert "<h3>All measures</h3>" in shown
        assert "People" not in shown[shown.index("<h3>All measures</h3>") :].partition("</thead>")[0]


class TestMixedModels:
    async def test_are_fitted_for_who_follows_the_link(self, suite: RunningSuite, reader: httpx.AsyncClient):
        address = "/campaigns/" + (await labelled_campaign(suite, await register_bots(suite))).rpartition("/")[2]
        answer = await reader.get(f"{address}/mixed-model?measure=label&kind=linear")
        assert answer.status_code == 200
        assert "It is not this suite&#39;s inference" in answer.text
        model = await _model(suite, address, "label", "linear")
        assert (model["reason"], len(model["bots"]), len(model["pairs"])) == (None, 3, 3)
        for each in (*model["bots"], *model["pairs"]):
            effect = f"{each['estimate']:z.2f}".replace("-", MINUS)
            error = f"{each['standard_error']:.2f}"
            assert f'<td class="number">{effect}</td><td class="number wide">{error}</td>' in answer.text

    async def test_are_linked_from_each_rated_measure_and_say_why_there_is_no_fit(
        self, suite: RunningSuite, reader: httpx.AsyncClient
    ):
        """Three dialogues of three bots: nothing tells dialogues from bots."""
        address = await _address(suite)
        text = (await reader.get(f"{address}?whole=true")).text
        for measure in DIMENSIONS:
            assert f'href="{address}/mixed-model?measure={measure}"' in text
        model = await _model(suite, address, "quality", "cumulative_link")
        answer = await reader.get(f"{address}/mixed-model?measure=quality")
        assert model["reason"][1:] in html.unescape(answer.text)

    async def test_speak_german(self, suite: RunningSuite, reader: httpx.AsyncClient):
        reader.cookies.set("language", "de")
        answer = await reader.get(f"{await _address(suite)}/mixed-model?measure=quality")
        assert "Es ist nicht die Inferenz dieser Suite" in answer.text

    @pytest.mark.parametrize(
        ("query", "status"),
        [("measure=humour", 404), ("", 422), ("measure=", 422), ("measure=quality&kind=probit", 422)],
    )
    async def test_refuse_unknown_measures_and_kinds(
        self, suite: RunningSuite, reader: httpx.AsyncClient, query: str, status: int
    ):
        assert (await reader.get(f"{await _address(suite)}/mixed-model?{query}")).status_code == status


async def _model(suite: RunningSuite, address: str, measure: str, kind: str) -> dict[str, Any]:
    analytics = await suite.client("analytics", "admin")
    answer = await analytics.get(f"/v1{address}/measures/{measure}", params={"mixed_model": kind}, timeout=60)
    found: dict[str, Any] = answer.json()["mixed_model"]
    return found
