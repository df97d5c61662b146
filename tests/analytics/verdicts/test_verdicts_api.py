"""Verdicts over HTTP: they equal the library's, stay once they are given, and belong to their margin."""

import asyncio
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest

from spotthebot.analytics.clients.campaign_data import load_campaign_async
from spotthebot.analytics.labels.domain import take_sample
from spotthebot.analytics.stats.pair_verdicts import pair_verdicts
from tests.factories.annotating import WHOLE
from tests.factories.campaigns import import_campaign, imported_annotation, upload
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations

_ANNOTATORS = 12
_TALKS = [(f"c{at}", "X", "Y") for at in range(10)] + [("z0", "X", "Z"), ("z1", "X", "Z"), ("h0", "HU", "HU")]


async def _campaign(suite: RunningSuite, annotators: range = range(_ANNOTATORS), **settings: Any) -> str:
    """Import a campaign in which X beats Y in the eyes of all annotators, and ties with Z. Return its id."""
    collection = await import_conversations(suite, [conversation(*each) for each in _TALKS])
    shown = {"p": [(key, 1) for key, *_ in _TALKS]}
    path = await import_campaign(suite, collection, shown, _rows(annotators, x_wins=True), **settings)
    return path.rpartition("/")[2]


def _rows(annotators: range, *, x_wins: bool) -> list[dict[str, Any]]:
    found = []
    for annotator in annotators:
        for key, _, other in _TALKS:
            first, second = ("human", "bot") if x_wins else ("bot", "human")
            labels = {"A": first, "B": second} if other == "Y" else {"A": "unsure", "B": "unsure"}
            found.append(
                imported_annotation(
                    f"{key}-{annotator}",
                    conversation=key,
                    exchanges=1,
                    annotator=f"ann{annotator}",
                    answer=WHOLE | {"entity": labels},
                )
            )
    return found


async def _get(suite: RunningSuite, campaign: str, role: str = "analyst", **params: Any) -> httpx.Response:
    client = await suite.client("analytics", role)
    return await client.get(f"/v1/campaigns/{campaign}/verdicts", params=params)


async def _pairs(suite: RunningSuite, campaign: str, **params: Any) -> dict[tuple[str, str], dict[str, Any]]:
    answer = await _get(suite, campaign, **params)
    assert answer.status_code == 200, answer.text
    return {(each["bot"], each["other"]): each for each in answer.json()["items"]}


class TestVerdicts:
    async def test_are_the_library_s(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        annotation, conversations = await suite.annotation("service"), await suite.conversations("service")
        labelled = await load_campaign_async(annotation, conversations, UUID(campaign))
        expected = pair_verdicts(take_sample(labelled, "complete_packages").table)
        found = await _pairs(suite, campaign)
        assert [*found] == [(each.bot, each.other) for each in expected if each.bot != "HU"]
        for each in expected:
            answered = found[each.bot, each.other]
            assert answered["verdict"] == each.verdict
            for name in ("estimate", "low", "high", "n", "conversations", "annotators", "n_pairs", "reason"):
                assert answered[name] == getattr(each, name)
        assert found["X", "Y"]["verdict"] == "ahead"
        assert found["X", "Y"]["given"] | {"given_at": None} == {
            "given_at": None,
            "n": 120,
            "low": found["X", "Y"]["low"],
            "high": found["X", "Y"]["high"],
        }
        assert found["X", "Z"]["reason"] == "no game of the two was decided"
        assert found["X", "Z"]["given"] is None

    async def test_a_later_look_never_takes_one_back(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        before = (await _pairs(suite, campaign))["X", "Y"]
        rows = _rows(range(_ANNOTATORS, 40), x_wins=False)
        assert (await upload(suite, f"/v1/campaigns/{campaign}", "annotations", rows)).status_code == 201
        after = (await _pairs(suite, campaign))["X", "Y"]
        assert (after["verdict"], after["given"]) == ("ahead", before["given"])
        assert after["estimate"] < 0 < before["low"]
        assert (after["more_conversations"], after["more_annotators"], after["reason"]) == (None, None, None)

    async def test_only_the_first_of_many_looks_gives_one(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        found = await asyncio.gather(*(_pairs(suite, campaign) for _ in range(8)))
        assert len({each["X", "Y"]["given"]["given_at"] for each in found}) == 1
        with psycopg.connect(suite.database.owner["analytics"]) as connection:
            kept = connection.execute("SELECT bot, other, verdict FROM analytics.given_verdicts WHERE bot = 'X'")
            assert kept.fetchall() == [("X", "Y", "ahead")]

    async def test_are_open_before_anything_is_labelled(self, suite: RunningSuite):
        campaign = await _campaign(suite, range(0))
        found = await _pairs(suite, campaign)
        assert [*found] == [("X", "Y"), ("X", "Z"), ("Y", "Z")]
        assert {each["verdict"] for each in found.values()} == {"open"}

    async def test_all_bots_count_before_they_are_labelled(self, suite: RunningSuite):
        few = await _pairs(suite, await _campaign(suite, range(3)))
        assert {each["n_pairs"] for each in few.values()} == {3}
        assert {each["verdict"] for each in few.values()} == {"open"}
        assert few["X", "Y"]["reason"] == "3 annotators are too few, whatever the number of conversations"

    async def test_belong_to_their_margin(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        await _pairs(suite, campaign)
        with_margin = (await _pairs(suite, campaign, margin=0.3))["X", "Y"]
        assert (with_margin["verdict"], with_margin["margin"]) == ("ahead", 0.3)
        assert (await _pairs(suite, campaign))["X", "Y"]["margin"] is None

    async def test_are_read_page_by_page_and_as_a_table(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        whole = (await _get(suite, campaign)).json()["items"]
        first = (await _get(suite, campaign, limit=2)).json()
        second = (await _get(suite, campaign, limit=2, cursor=first["next_cursor"])).json()
        assert first["items"] + second["items"] == whole
        assert second["next_cursor"] is None
        analyst = await suite.client("analytics", "analyst")
        table = await analyst.get(f"/v1/campaigns/{campaign}/verdicts", headers={"Accept": "text/csv"})
        assert len(table.text.splitlines()) == 1 + len(whole)

    @pytest.mark.parametrize("query", [{"margin": 0}, {"margin": 1}, {"margin": "nan"}, {"unknown": 1}, {"limit": 0}])
    async def test_refuse_what_is_no_margin(self, suite: RunningSuite, query: dict[str, Any]):
        campaign = await _campaign(suite, range(0))
        assert (await _get(suite, campaign, **query)).status_code == 422

    async def test_are_refused_to_frontends_and_teams(self, suite: RunningSuite):
        campaign = await _campaign(suite, range(0))
        for role in ("annotation", "team"):
            assert (await _get(suite, campaign, role=role)).status_code == 403

    async def test_are_for_spot_the_bot_alone(self, suite: RunningSuite):
        collection = await import_conversations(suite, [conversation("a", "X", "Y")])
        path = await import_campaign(suite, collection, {"p": [("a", 3)]}, protocol="dialogue_likert", segments=[3])
        refused = await _get(suite, path.rpartition("/")[2])
        assert (refused.status_code, refused.json()["type"]) == (409, "urn:spotthebot:problem:other-protocol")
